import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { providers } from '../../../src/relay/providers/registry.js';
import {
  type Answer,
  type Caller,
  type Callers,
  errorIn,
  isWholeStream,
  openCallers,
} from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { type DocumentedAddress, documentedAddresses } from '../../support/upstreams/documented-addresses.js';
import type { AnsweredMode } from '../../support/upstreams/form-of-answers.js';
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/upstreams/upstream.js';

/*
 * Every provider whose wire is one that many share, in each mode, whole and streamed, as it answers, refuses, breaks off or
 * hangs: where it is asked, what its caller gets, and what is charged. All of them at once, as they do not know each other.
 */

type Course = 'answers' | 401 | 429 | 500 | 'cut' | 'silent';

interface Wire extends DocumentedAddress {
  readonly mode: AnsweredMode;
  readonly model: string;
  readonly upstream: Upstream;
}

const quota = 10_000_000;
const started: Upstream[] = [];
let wires: Wire[] = [];
let gateway: TestGateway;
let callers: Callers;
let caller: Caller;
let user: TestUser;
let course: Course = 'answers';
let streamed = false;
let faults: string[] = [];

const nameOf = ({ type, mode }: Wire): string => `type ${type}, ${mode}`;

function faultIn(wire: Wire, call: UpstreamCall): string | null {
  const { paths, streams, mode, model, shown, key } = wire;
  const path = (streamed ? streams : undefined) ?? paths[mode];
  const expected = path?.replace('MODEL', model);
  if (call.url !== expected) return `asked at ${call.url} instead of ${expected}`;
  const [header, value] = shown ?? ['authorization', `Bearer ${key}`];
  return call.headers[header] === value ? null : `${header} says ${call.headers[header]}`;
}

function answer({ form, mode, key }: Wire, response: ServerResponse): void {
  const json = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (typeof course === 'number') return void json(course, form.refusal(course, `Not now, holder of ${key}.`));
  if (course === 'answers' && !streamed) return void json(200, form.whole(mode));
  if (!streamed) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"', () => (course === 'cut' ? response.destroy() : undefined));
    return;
  }
  const events = form.events(mode);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (course === 'answers') return void response.end(events.join(''));
  response.write(events.slice(0, form.begin).join(''), () => (course === 'cut' ? response.destroy() : undefined));
}

async function openWire(address: DocumentedAddress, mode: AnsweredMode): Promise<Wire> {
  const model = `m-${address.type}-${mode}`;
  let wire: Wire | null = null;
  const upstream = await startUpstream((call, response) => {
    if (wire === null) return;
    const fault = faultIn(wire, call);
    if (fault !== null) faults.push(`${nameOf(wire)}: ${fault}`);
    answer(wire, response);
  });
  started.push(upstream);
  const { type, key, other = '', below = '' } = address;
  await gateway.addChannel({ type, models: [model], baseUrl: upstream.url + below, key, other, autoBan: false });
  wire = { ...address, mode, model, upstream };
  return wire;
}

beforeAll(async () => {
  gateway = await startTestGateway({ RELAY_TIMEOUT: '5', STREAMING_TIMEOUT: '2', CALLER_GONE_SECONDS: '1' });
  callers = openCallers(gateway.url);
  const modes = documentedAddresses.flatMap((address) =>
    (Object.keys(address.paths) as AnsweredMode[]).map((mode) => [address, mode] as const),
  );
  const ones = JSON.stringify(Object.fromEntries(modes.map(([{ type }, mode]) => [`m-${type}-${mode}`, 1])));
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, ones);
  await gateway.setOption('RetryTimes', '0');
  for (const [address, mode] of modes) wires.push(await openWire(address, mode));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  for (const upstream of started) await upstream.stop();
  wires = [];
});
beforeEach(async () => {
  faults = [];
  user = await gateway.addUser(quota);
  caller = callers.with(await gateway.addApiKey(user));
});

const addresses: Readonly<Record<AnsweredMode, string>> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  embeddings: '/v1/embeddings',
  rerank: '/v1/rerank',
  moderation: '/v1/moderations',
};
const prompts: Readonly<Record<AnsweredMode, object>> = {
  chat: { messages: [{ role: 'user', content: 'What is a ledger?' }] },
  completions: { prompt: 'A ledger is' },
  embeddings: { input: 'What is a ledger?' },
  rerank: { query: 'What is a ledger?', documents: ['A dog.', 'A list of debts.'] },
  moderation: { input: 'What is a ledger?' },
};

/** Those that put out words, and stream them. */
const wordy = new Set<AnsweredMode>(['chat', 'completions']);

const ask = ({ mode, model }: Wire): Promise<Answer> =>
  caller.send(addresses[mode], {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { model, ...prompts[mode], ...(streamed && { stream: true, stream_options: { include_usage: true } }) },
  });

/** What each gave its caller, by its name; of those that stream alone, where that is asked. */
async function everyone<Seen>(
  next: { readonly course: Course; readonly stream: boolean },
  seen: (answer: Answer, wire: Wire) => Seen | Promise<Seen>,
): Promise<Record<string, Seen>> {
  course = next.course;
  streamed = next.stream;
  const asked = wires.filter(({ mode }) => !streamed || wordy.has(mode));
  const results = await Promise.all(
    asked.map(async (wire) => [nameOf(wire), await seen(await ask(wire), wire)] as const),
  );
  return Object.fromEntries(results);
}

const alike = (seen: Record<string, unknown>, expected: unknown): void => {
  expect(faults).toEqual([]);
  const names = Object.keys(seen);
  expect(names.length).toBeGreaterThan(30);
  expect(seen).toEqual(Object.fromEntries(names.map((name) => [name, expected])));
};
const left = (expected: number) => until(async () => ((await gateway.available(user)) === expected ? true : null));
const shows = ({ text }: Answer, { key }: Wire): boolean => text.includes(key);

describe('every provider in a form that many share', () => {
  test('is in the list of documented addresses', () => {
    const listed = new Set(documentedAddresses.map(({ type }) => type));
    // Wires of their own, asked in other tests; tasks alone; and an interface that has ended.
    const elsewhere = new Set([2, 4, 5, 11, 15, 16, 21, 33, 36, 37, 41]);
    expect(providers.map(({ type }) => type).filter((type) => !listed.has(type) && !elsewhere.has(type))).toEqual([]);
  });

  test('is asked at its documented address, and charged by its usage', async () => {
    let sum = 0;
    const seen = await everyone({ course: 'answers', stream: false }, async (answer, { mode }) => {
      const line = await lineOf(gateway, user, answer);
      sum += line.quota;
      return [answer.status, line.quota - (wordy.has(mode) ? 30 : 20), line.usage_source];
    });
    alike(seen, [200, 0, 'upstream']);
    await left(quota - sum);
  });

  test('streams from its documented address, and is charged by its usage', async () => {
    let sum = 0;
    const seen = await everyone({ course: 'answers', stream: true }, async (answer) => {
      const line = await lineOf(gateway, user, answer);
      sum += line.quota;
      return [answer.status, isWholeStream(answer), line.quota, line.usage_source];
    });
    alike(seen, [200, true, 30, 'upstream']);
    await left(quota - sum);
  });

  test.each([
    [401, false],
    [401, true],
    [429, false],
    [429, true],
    [500, false],
    [500, true],
  ] as const)(
    'has its refusal with status %i passed on free of charge, without its key (streamed: %s)',
    async (status, stream) => {
      const seen = await everyone({ course: status, stream }, (answer, wire) => [
        answer.status,
        errorIn(answer).message !== '',
        shows(answer, wire),
      ]);
      // The key is the operator's: its refusal says nothing of the caller's.
      alike(seen, [status === 401 ? 502 : status, true, false]);
      await left(quota);
    },
  );

  test.each(['cut', 'silent'] as const)('that is %s within a whole answer costs nothing', async (how) => {
    const seen = await everyone({ course: how, stream: false }, (answer, wire) => [
      answer.status >= 500,
      errorIn(answer).message !== '',
      shows(answer, wire),
    ]);
    alike(seen, [true, true, false]);
  });

  test.each(['cut', 'silent'] as const)(
    'that is %s within a stream ends it with an error, and costs what was sent',
    async (how) => {
      let sum = 0;
      const seen = await everyone({ course: how, stream: true }, async (answer) => {
        const line = await lineOf(gateway, user, answer);
        sum += line.quota;
        const counted = line.quota === line.prompt_tokens + line.completion_tokens && line.completion_tokens > 0;
        return [answer.status, answer.text.includes('"error"'), isWholeStream(answer), counted && line.quota < 40];
      });
      alike(seen, [200, true, false, true]);
      await left(quota - sum);
    },
  );
});
