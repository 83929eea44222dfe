import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { buildSchema } from 'graphql';
import type { Config } from '../src/config.js';
import { apiRequests } from './api-requests.js';
import { booksAndModels } from './books.js';
import { dialectRequests } from './dialects/dialect-requests.js';
import { graphqlRequests } from './graphql-requests.js';
import { type Answer, findingIn } from './judge.js';
import { exportRequests, pageRequests, socketRequests } from './other-requests.js';
import { playgroundRequests, relayRequests } from './relay-requests.js';
import type { FuzzRequest } from './request.js';
import { converse, send } from './send.js';
import { openWorld, type World } from './world.js';

/* The run: so many requests made of a seed, each judged; then the books, the read models, and that it still serves. */

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
  /** Only this request, to look at it alone. */
  readonly only?: number;
  /** Only requests to this face; they keep their numbers. */
  readonly face?: FuzzRequest['face'];
  readonly concurrency: number;
  readonly progress?: (line: string) => void;
  /** Called with each finding as soon as it is there. */
  readonly onFinding?: (finding: Finding) => void;
}

export interface Finding {
  readonly number: number;
  readonly what: string;
  readonly request: FuzzRequest;
  readonly answer: string;
}

export interface FuzzReport {
  readonly requests: number;
  readonly byFace: Readonly<Record<string, number>>;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Milliseconds. */
  readonly slowest: number;
  /** From the first request to the last answer, in milliseconds. */
  readonly elapsedMs: number;
  /** What was checked afterwards, with its figures. */
  readonly books: Readonly<Record<string, number | string>>;
  readonly findings: readonly Finding[];
}

const schemaFile = new URL('../schema.graphql', import.meta.url);
const mendEvery = 100;
/** An answer slower than this is asked for again, alone; it is a finding when it stays slow. */
const slowMs = 2_000;
/** A call whose upstream falls silent waits for it, once for each attempt. */
const slowCallMs = 10_000;
const slowFor = ({ face }: FuzzRequest): number => (face === 'dialect' ? slowCallMs : slowMs);
const againSlow = 3;
const maxOfAKind = 10;
const shownBody = 400;

/** Without what is peculiar to one of them. */
const kindOf = (what: string): string => what.replace(/:.*/s, '');

const run = (world: World, request: FuzzRequest): Promise<Answer> => {
  const credentials = world.credentials(request);
  return (request.face === 'socket' ? converse : send)(world.gateway.url, request, credentials);
};

/** Whether an answer is slow by itself and not because of what else this machine was doing. */
async function staysSlow(world: World, request: FuzzRequest): Promise<boolean> {
  for (let attempt = 0; attempt < againSlow; attempt++) {
    const { elapsedMs } = await run(world, request);
    if (elapsedMs < slowFor(request)) return false;
  }
  return true;
}

export async function fuzz(config: Config, options: FuzzOptions): Promise<FuzzReport> {
  const { requests, seed, only, face, concurrency, progress = () => {}, onFinding = () => {} } = options;
  const world = await openWorld(config);
  const findings: Finding[] = [];
  const byFace: Record<string, number> = {};
  const byStatus: Record<string, number> = {};
  let slowest = 0;
  let sent = 0;
  let elapsedMs = 0;
  let books: FuzzReport['books'] = {};
  const found = (number: number, what: string, request: FuzzRequest, answer: Answer): void => {
    const alike = findings.filter((one) => one.request.face === request.face && kindOf(one.what) === kindOf(what));
    if (alike.length >= maxOfAKind) return;
    const finding = { number, what, request, answer: answer.body.slice(0, shownBody) };
    findings.push(finding);
    onFinding(finding);
  };

  try {
    const arbitrary = fc.oneof(
      { weight: 8, arbitrary: apiRequests(world.gateway.routes) },
      { weight: 8, arbitrary: graphqlRequests(buildSchema(readFileSync(schemaFile, 'utf8'))) },
      { weight: 8, arbitrary: relayRequests },
      { weight: 8, arbitrary: dialectRequests },
      { weight: 3, arbitrary: playgroundRequests },
      { weight: 1, arbitrary: exportRequests },
      { weight: 1, arbitrary: pageRequests },
      { weight: 1, arbitrary: socketRequests },
    );
    const requestAt = (number: number): FuzzRequest => {
      const [request] = fc.sample(arbitrary, { seed: seed * 1_000_003 + number, numRuns: 1 });
      if (request === undefined) throw new Error('nothing was generated');
      return request;
    };

    const suspects: { number: number; request: FuzzRequest }[] = [];
    const one = async (number: number): Promise<void> => {
      const request = requestAt(number);
      if (face !== undefined && request.face !== face) return;
      sent++;
      const answer = await run(world, request);
      byFace[request.face] = (byFace[request.face] ?? 0) + 1;
      const status = `${request.face} ${answer.status ?? 'none'}`;
      byStatus[status] = (byStatus[status] ?? 0) + 1;
      slowest = Math.max(slowest, answer.elapsedMs);
      const finding = findingIn(request, answer);
      if (finding !== null) found(number, finding, request, answer);
      if (answer.elapsedMs > slowFor(request)) suspects.push({ number, request });
    };

    const started = performance.now();
    const first = only ?? 0;
    const last = only === undefined ? requests : only + 1;
    for (let from = first; from < last; from += mendEvery) {
      let next = from;
      const until = Math.min(from + mendEvery, last);
      const worker = async (): Promise<void> => {
        while (next < until) await one(next++);
      };
      await Promise.all(Array.from({ length: concurrency }, worker));
      for (const { number, request } of suspects.splice(0))
        if (await staysSlow(world, request))
          found(
            number,
            `no answer within ${slowFor(request)} ms, three times more`,
            request,
            await run(world, request),
          );
      await world.mend();
      elapsedMs = performance.now() - started;
      const rate = Math.round((sent / elapsedMs) * 1_000);
      if ((until / mendEvery) % 10 === 0)
        progress(`${until} of ${last}, ${rate} a second: ${findings.length} findings`);
    }

    const nobody: FuzzRequest = { face: 'api', method: 'GET', path: '/', as: 'root', headers: {}, body: null };
    const silent: Answer = { status: null, headers: {}, body: '', elapsedMs: 0 };
    for (const line of world.errors) found(-1, 'an error of its own in the log', nobody, { ...silent, body: line });
    const checked = await booksAndModels(config, world.gateway);
    books = checked.figures;
    for (const problem of checked.problems) found(-1, problem, nobody, silent);
  } finally {
    await world.stop();
  }
  return { requests: sent, byFace, byStatus, slowest, elapsedMs, books, findings };
}
