import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type Percentiles, percentilesOf } from '../figures.js';
import { chatPath, chatRequest } from './chat-request.js';
import { answerParent } from './child.js';

/*
 * Many who watch their usage live, and calls for them to see. Callers and watchers are in one process, so that when a
 * call ended and when its line arrived are measured by one clock.
 */

export interface Watched {
  /** Of a signed-in user. */
  readonly cookie: string;
  readonly apiKey: string;
  /** How many connections watch this user's usage, each with one subscription. */
  readonly watchers: number;
  /** Where the newest line is: what comes after it is to arrive. */
  readonly after: string;
}

export type WatchersQuestion =
  | { readonly ask: 'open'; readonly url: string; readonly users: readonly Watched[] }
  | { readonly ask: 'call'; readonly model: string; readonly perSecond: number; readonly seconds: number };

export interface Seen {
  readonly calls: number;
  /** Lines that arrived: of each call as many as its user has watchers. */
  readonly delivered: number;
  readonly missing: number;
  readonly repeated: number;
  /** Connections and subscriptions that ended though nobody had asked them to, each reason with how many. */
  readonly lost: Readonly<Record<string, number>>;
  /** From the end of a call, as its caller saw it, to the arrival of its line. */
  readonly delayMs: Percentiles;
}

/** To `open`: how many are connected. */
export type WatchersAnswer = { readonly connected: number } | Seen;

/** The gateway takes so many sockets from one address; the further ones come from further addresses of loopback. */
const socketsPerAddress = 200;
const patienceMs = 30_000;

interface Call {
  endedAt: number;
  readonly arrivals: number[];
}

let url = '';
let users: readonly Watched[] = [];
const calls = new Map<string, Call>();
const lost: Record<string, number> = {};

/** A call, or the line of one whose end has not been noticed yet. */
function callOf(requestId: string): Call {
  const known = calls.get(requestId);
  if (known !== undefined) return known;
  const made = { endedAt: Number.NaN, arrivals: [] };
  calls.set(requestId, made);
  return made;
}

const lose = (reason: string): void => {
  lost[reason] = (lost[reason] ?? 0) + 1;
};

const feed = 'subscription ($after: ID) { usageFeed(after: $after) { id requestId type quota model createdAt } }';

/** Resolves when the gateway has acknowledged the connection; what goes wrong later shows in lines that are missing. */
function watch({ cookie, after }: Watched, address: string): Promise<void> {
  class Socket extends WebSocket {
    constructor(to: string, protocols: string[]) {
      super(to, protocols, { headers: { cookie }, localAddress: address });
    }
  }
  return new Promise((resolve, reject) => {
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: Socket,
      lazy: false,
      retryAttempts: 0,
      onNonLazyError: reject,
      on: {
        connected: () => resolve(),
        error: reject,
        closed(event) {
          const { code, reason } = event as { readonly code: number; readonly reason: string };
          lose(`closed with ${code} ${reason}`.trim());
        },
      },
    });
    client.subscribe<{ usageFeed: { requestId: string | null } }>(
      { query: feed, variables: { after } },
      {
        next: ({ data, errors }) => {
          if (errors !== undefined) lose(`told an error: ${errors.map(({ message }) => message).join('; ')}`);
          const requestId = data?.usageFeed.requestId;
          if (requestId) callOf(requestId).arrivals.push(performance.now());
        },
        error: (error) => lose(`failed: ${describe(error)}`),
        complete: () => lose('completed'),
      },
    );
  });
}

async function open(question: Extract<WatchersQuestion, { ask: 'open' }>): Promise<number> {
  ({ url, users } = question);
  const all = users.flatMap((user) => Array.from({ length: user.watchers }, () => user));
  for (const [number, user] of all.entries()) {
    const address = `127.0.0.${1 + Math.floor(number / socketsPerAddress)}`;
    await watch(user, address).catch((error: unknown) => {
      throw new Error(`watcher ${number + 1}, from ${address}, could not connect: ${describe(error)}`);
    });
  }
  return all.length;
}

const describe = (error: unknown): string =>
  error instanceof Error ? error.message : typeof error === 'object' ? JSON.stringify(error) : String(error);

async function call(model: string, { apiKey }: Watched): Promise<string> {
  const { body, headers } = chatRequest({ apiKey, model, stream: false });
  const { authorization = '' } = headers;
  const response = await fetch(url + chatPath, {
    method: 'POST',
    headers: { authorization: String(authorization), 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  const requestId = response.headers.get('x-request-id');
  if (!response.ok || requestId === null) throw new Error(`a call was answered with ${response.status}: ${text}`);
  callOf(requestId).endedAt = performance.now();
  return requestId;
}

async function callAndSee({ model, perSecond, seconds }: Extract<WatchersQuestion, { ask: 'call' }>): Promise<Seen> {
  calls.clear();
  const startedAt = performance.now();
  const made: Promise<readonly [string, Watched]>[] = [];
  const total = Math.max(1, Math.floor(perSecond * seconds));
  while (made.length < total) {
    const user = users[made.length % users.length];
    if (user === undefined) throw new Error('nobody watches');
    const wait = startedAt + (made.length / perSecond) * 1000 - performance.now();
    if (wait > 0) await pause(wait);
    made.push(call(model, user).then((requestId) => [requestId, user] as const));
  }
  const ended = await Promise.all(made);
  const isWhole = () => ended.every(([id, { watchers }]) => callOf(id).arrivals.length >= watchers);
  for (const deadline = performance.now() + patienceMs; !isWhole() && performance.now() < deadline; ) await pause(50);
  return sumUp(ended);
}

function sumUp(ended: readonly (readonly [string, Watched])[]): Seen {
  const delays: number[] = [];
  let [delivered, missing, repeated] = [0, 0, 0];
  for (const [requestId, { watchers }] of ended) {
    const { endedAt, arrivals } = callOf(requestId);
    delivered += arrivals.length;
    missing += Math.max(0, watchers - arrivals.length);
    repeated += Math.max(0, arrivals.length - watchers);
    // A watcher may be notified before the caller's side has noticed its answer.
    delays.push(...arrivals.map((at) => Math.max(0, at - endedAt)));
  }
  return { calls: ended.length, delivered, missing, repeated, lost, delayMs: percentilesOf(delays) };
}

answerParent<WatchersQuestion, WatchersAnswer>(async (question) =>
  question.ask === 'open' ? { connected: await open(question) } : callAndSee(question),
);
