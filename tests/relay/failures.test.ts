import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { newEventId } from '../../src/application/event-id.js';
import { openQuotaGate } from '../../src/application/memory/quota-gate.js';
import { initialOptions } from '../../src/application/options/initial-options.js';
import { settingsFrom } from '../../src/application/options/settings.js';
import type { ExpectedRevision, QuotaGate } from '../../src/application/ports/storage-ports.js';
import { beginning, type NewEvent, type StreamName } from '../../src/domain/events/events.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import type { CallId } from '../../src/domain/kernel/ids.js';
import type { Refusal } from '../../src/domain/kernel/refusal.js';
import { callLimits } from '../../src/relay/admission/call-limits.js';
import { countWrongKeys } from '../../src/relay/admission/wrong-keys.js';
import type { RelayPorts } from '../../src/relay/contracts/ports.js';
import { NotConvertible, type Provider, type UpstreamRequest } from '../../src/relay/contracts/protocol.js';
import { chat } from '../../src/relay/dialects/openai/endpoints/chat.js';
import { inFlightCalls } from '../../src/relay/metering/in-flight-calls.js';
import { openMeter } from '../../src/relay/metering/metered.js';
import { openRelay } from '../../src/relay/pipeline/relay.js';
import { openai } from '../../src/relay/providers/openai.js';
import { LargeWork } from '../../src/relay/text/large-work.js';
import { AnswerRoom } from '../../src/relay/upstream/answer-room.js';
import { MemoryConnection } from '../support/callers/memory-connection.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { someInstant } from '../support/given/events.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { noPrices } from '../support/given/no-prices.js';
import { MemoryEventStore } from '../support/memory/memory-event-store.js';

/* One call over HTTP on a relay in which one thing goes wrong: what its caller is answered, and what the log keeps. */

const away = (): never => {
  throw new Failure('store-unavailable');
};
const mistake = (): never => {
  throw new TypeError('a mistake of ours');
};

class FaultyStore extends MemoryEventStore {
  fault: (event: NewEvent) => void = () => {};

  override async append(stream: StreamName, events: readonly NewEvent[], expected: ExpectedRevision) {
    for (const event of events) this.fault(event);
    return super.append(stream, events, expected);
  }
}

const options = new Map([
  ['SelfUseModeEnabled', 'true'],
  ['RetryTimes', '1'],
  ['AutomaticDisableChannelEnabled', 'true'],
]);
const channel = (id: number) => ({
  ...{ id, status: 'enabled', secrets: { key: `key-${id}`, proxy: null } },
  settings: {
    type: 1,
    baseUrl: '',
    other: '',
    priority: 0,
    weight: 0,
    models: ['m'],
    modelMapping: '',
    autoBan: true,
  },
});
const terms = apiKeyTerms({ unlimited: true });
const user = { id: 7, status: 'enabled', role: 'user', group: 'default', acceptUnpricedModels: true };

interface UpstreamSays {
  readonly status: number;
  readonly pieces: readonly string[];
}

const sendingOf = ({ status, pieces }: UpstreamSays) => {
  const left = pieces.map((piece) => Buffer.from(piece));
  const next = async () => {
    const value = left.shift();
    return value === undefined ? { done: true, value } : { done: false, value };
  };
  const whole = async () => Buffer.concat(left.splice(0));
  return {
    sent: Promise.resolve({ ok: true, answer: { status, headers: {}, body: { next, whole } } }),
    started: true,
    begun: () => {},
    follow: () => {},
    cancel: () => {},
  };
};

const answer = JSON.stringify({
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});
const good: UpstreamSays = { status: 200, pieces: [answer] };
const chunk = (content: string): string =>
  `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;

const close: (() => void)[] = [];
afterEach(() => {
  for (const each of close.splice(0)) each();
});

interface World {
  readonly directory?: Record<string, unknown>;
  readonly vault?: (id: string) => Promise<string>;
  readonly fault?: FaultyStore['fault'];
  /** What the quota gate does otherwise than it should. */
  readonly broken?: Partial<QuotaGate>;
  readonly protocol?: Partial<Provider['protocol']>;
  readonly authorisation?: Provider['authorisation'];
  /** Or by how many requests it has had. */
  readonly upstream?: UpstreamSays | ((requests: number) => UpstreamSays);
  readonly stream?: boolean;
  /** What the call comes over. Left out: an HTTP request. */
  readonly connection?: MemoryConnection;
}

async function answeredBy({ directory = {}, vault, fault, broken, ...world }: World) {
  const { protocol, authorisation, upstream, stream = false, connection } = world;
  const store = new FaultyStore();
  if (fault !== undefined) store.fault = fault;
  const clock = settableClock(someInstant);
  const account = async () => ({ balance: 1_000_000_000n, spending: [], reservations: [], position: beginning });
  const source = { user: account, apiKey: account, caughtUp: async () => true, between: async () => [] };
  const gate = { ...openQuotaGate(source, { capacity: 10, after: beginning, clock }), ...broken };
  const meter = openMeter({ store, gate, clock, inFlight: inFlightCalls(), newEventId, warn: () => {} });
  const settings = settingsFrom(options, noPrices, initialOptions(noPrices));
  const sent: string[] = [];
  const outOfOrder: string[] = [];
  const refused: unknown[] = [];
  const logged = { warned: [] as unknown[], bugs: [] as unknown[] };
  const ports = {
    directory: {
      settings: () => settings,
      remembersApiKey: () => true,
      apiKey: async () => ({ id: 1, owner: 7, status: 'enabled', terms }),
      user: async () => user,
      candidates: () => [channel(1), channel(2)],
      ...directory,
    },
    vault: { hash: (text: string) => text, get: vault ?? (async () => 'sk-upstream') },
    ...{ gate, meter, clock },
    upstream: {
      send({ headers }: UpstreamRequest) {
        sent.push(headers.authorization ?? '');
        return sendingOf((typeof upstream === 'function' ? upstream(sent.length) : upstream) ?? good);
      },
    },
    bodies: {
      json: async () => ({
        value: { model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5, stream },
        bytes: 80,
        upload: null,
        leave: () => {},
      }),
    },
    largeWork: new LargeWork(),
    answers: new AnswerRoom(2 ** 30),
    limits: callLimits(clock),
    wrongKeys: countWrongKeys(clock),
    apiKeyStatus: { refused: () => {} },
    channelHealth: { outOfOrder: (_: number, _key: string, reason: string) => void outOfOrder.push(reason) },
    refusals: {
      count: ({ status, code }: Refusal, callId: CallId | null) => void refused.push([status, code, callId]),
    },
    providerOf: () => ({
      ...openai,
      protocol: { ...openai.protocol, ...protocol },
      ...(authorisation && { authorisation }),
    }),
    config: { streamIdleMs: 60_000, answerTimeoutMs: 60_000, callerGoneMs: 1_000, callerStallMs: 60_000 },
    log: {
      info: () => {},
      warn: (facts: unknown) => void logged.warned.push(facts),
      error: (facts: { error: unknown }) => void logged.bugs.push(facts.error),
    },
  } as unknown as RelayPorts;
  const relay = openRelay(ports);
  const credential = { key: 'a'.repeat(48), pinnedChannel: null };
  const call = { model: null, requestId: 'r1', endpoint: chat, credential, ip: '192.0.2.1' };
  const query = new URLSearchParams();
  const outcomeOf = async () => {
    const events = (await store.readAll(beginning, 100)).map(({ event }) => event);
    return { logged, outcome: events.at(-1), events, sent, outOfOrder, refused };
  };
  if (connection !== undefined) {
    const bodySource = Object.assign(Readable.from([]), { headers: {} });
    await relay.serve({ ...call, query, headers: {}, bodySource }, connection);
    return { status: connection.refusal?.status ?? 200, text: connection.text, ...(await outcomeOf()) };
  }
  const server = createServer((request, response) => {
    void relay.handle({ ...call, query, head: [], headers: request.headers, bodySource: request, response });
  }).listen(0, '127.0.0.1');
  close.push(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: { connection: 'close' } });
  const text = await response.text();
  return { status: response.status, text, ...(await outcomeOf()) };
}

const errorIn = (text: string) =>
  (JSON.parse(text) as { error: { code: string; type: string; message: string } }).error;

describe('a call over a connection that is no HTTP response', () => {
  test('is answered to its connection, and charged as any other', async () => {
    const connection = new MemoryConnection();
    const { outcome } = await answeredBy({ connection });
    expect(JSON.parse(connection.text)).toMatchObject({ choices: [{ message: { content: 'Yes.' } }] });
    expect([connection.begun?.type, connection.ended]).toEqual([expect.stringContaining('application/json'), true]);
    expect(outcome).toMatchObject({ type: 'CallSettled', outcome: 'completed', usage: { input: 3, output: 2 } });
  });

  test('is streamed to that connection, and charged, when it requests a stream', async () => {
    const connection = new MemoryConnection();
    const upstream = { status: 200, pieces: [chunk('Yes.'), 'data: [DONE]\n\n'] };
    const { outcome } = await answeredBy({ connection, stream: true, upstream });
    expect(connection.begun?.type).toContain('text/event-stream');
    expect(connection.text).toContain('Yes.');
    expect(outcome).toMatchObject({ type: 'CallSettled', outcome: 'completed' });
  });

  test('that no channel answers gets the error by its connection, and costs nothing', async () => {
    const connection = new MemoryConnection();
    const upstream = { status: 503, pieces: [JSON.stringify({ error: { message: 'busy' } })] };
    const { outcome } = await answeredBy({ connection, upstream });
    expect([connection.refusal?.status, connection.ended]).toEqual([503, true]);
    expect(outcome).toMatchObject({ type: 'CallReleased' });
  });
});

describe('a quota gate that cannot be reached', () => {
  const lost = async (): Promise<never> => {
    throw new Error('the gate cannot be reached');
  };

  test('when a call is to be admitted refuses it, with nothing in the log and nothing sent', async () => {
    const asked = await answeredBy({ broken: { admit: async () => away() } });
    expect([asked.status, errorIn(asked.text).code]).toEqual([503, 'store_unavailable']);
    expect([asked.events, asked.sent, asked.logged.bugs]).toEqual([[], [], []]);
  });

  test('when a call is to be settled, or has been, withholds no answer from its caller', async () => {
    const { status, text, outcome, logged } = await answeredBy({ broken: { charge: lost, settled: lost } });
    expect([status, JSON.parse(text)]).toMatchObject([200, { choices: [{ message: { content: 'Yes.' } }] }]);
    expect(outcome).toMatchObject({ type: 'CallSettled', outcome: 'completed', uncovered: 0 });
    expect(logged.bugs).toEqual([]);
  });

  test('when a stream outgrows its reservation ends it with an error, and the delivered part is charged', async () => {
    const words = Array.from({ length: 40 }, (_, n) => chunk(`word ${n} `.repeat(20)));
    const upstream = { status: 200, pieces: [...words, 'data: [DONE]\n\n'] };
    const { text, outcome } = await answeredBy({ upstream, stream: true, broken: { extend: lost } });
    expect(text).toContain('word 0');
    expect(text).not.toContain('word 39');
    expect(text).toContain('internal_error');
    expect(outcome).toMatchObject({ type: 'CallSettled', outcome: 'gateway-failed' });
    expect((outcome as { charged: number }).charged).toBeGreaterThan(0);
  });

  test('during a stream is reported as unavailable, and not as an internal error', async () => {
    const words = Array.from({ length: 40 }, (_, n) => chunk(`word ${n} `.repeat(20)));
    const upstream = { status: 200, pieces: [...words, 'data: [DONE]\n\n'] };
    const { text, outcome, logged } = await answeredBy({
      upstream,
      stream: true,
      broken: { extend: async () => away() },
    });
    expect(text).toContain('store_unavailable');
    expect(text).not.toContain('word 39');
    expect(outcome).toMatchObject({ type: 'CallSettled', outcome: 'gateway-failed' });
    expect(logged.bugs).toEqual([]);
  });
});

describe('an unavailable store', () => {
  test.each([
    ['while the key is looked up', { directory: { apiKey: away } }],
    ['while its owner is looked up', { directory: { user: away } }],
    ['while the call is reserved', { fault: ({ event }: NewEvent) => event.type === 'CallReserved' && away() }],
    ['while the key of the channel is read', { vault: async () => away() }],
    ['while the charge is written', { fault: ({ event }: NewEvent) => event.type === 'CallSettled' && away() }],
  ] satisfies [string, World][])(
    '%s is reported as unavailable, and not as an internal error',
    async (_when, world) => {
      const { status, text, logged } = await answeredBy(world);
      expect([status, errorIn(text).code]).toEqual([503, 'store_unavailable']);
      expect(logged.bugs).toEqual([]);
    },
  );

  const refused = { status: 400, pieces: ['{"error":{"message":"too long","type":"t","code":"context_length"}}'] };
  const broken = { status: 500, pieces: ['{"error":{"message":"overloaded","type":"t","code":"overloaded"}}'] };

  test('while a refused call is released does not hide the upstream’s error', async () => {
    const fault = ({ event }: NewEvent): unknown => event.type === 'CallReleased' && away();
    const { status, text } = await answeredBy({ upstream: refused, fault });
    expect([status, errorIn(text).code]).toEqual([400, 'context_length']);
  });

  test('before a second channel is tried does not hide the error of the first one', async () => {
    const asked: string[] = [];
    const vault = async (id: string): Promise<string> => (asked.push(id) === 1 ? 'sk-upstream' : away());
    const { status, text, outcome } = await answeredBy({ upstream: broken, vault });
    expect([status, errorIn(text).code, asked.length]).toEqual([500, 'overloaded', 2]);
    expect(outcome).toMatchObject({ type: 'CallReleased', reason: 'upstream-failed' });
  });
});

describe('a call that is refused before it is reserved', () => {
  test('is counted, and recorded in a stream of its own', async () => {
    const { refused } = await answeredBy({ directory: { candidates: () => [], hasModel: () => false } });
    expect(refused).toEqual([[404, 'model_not_found', 'r1']]);
  });

  test.each([
    ['while the key is looked up', { directory: { apiKey: away } }],
    ['while the call is reserved', { fault: ({ event }: NewEvent) => event.type === 'CallReserved' && away() }],
  ] satisfies [string, World][])(
    '%s, because the store is unavailable, is only counted: its stream may hold a reservation',
    async (_when, world) => {
      const { refused } = await answeredBy(world);
      expect(refused).toEqual([[503, 'store_unavailable', null]]);
    },
  );

  test('is in no stream of a served call, or has a release with the reason', async () => {
    expect((await answeredBy({})).refused).toEqual([]);
    expect((await answeredBy({ upstream: { status: 500, pieces: ['{}'] } })).refused).toEqual([]);
  });
});

describe('a failed attempt', () => {
  const overloaded = { status: 503, pieces: ['{"error":{"message":"busy","type":"t","code":"busy"}}'] };
  const busy = { status: 503, code: 'busy', durationMs: 0 };

  test('is recorded in the settlement of the call that another channel answered', async () => {
    const upstream = (requests: number): UpstreamSays => (requests === 1 ? overloaded : good);
    const { status, outcome } = await answeredBy({ upstream });
    if (outcome?.type !== 'CallSettled') throw new Error('not settled');
    const [failed, answered] = outcome.attempts;
    expect([status, outcome.channelId]).toEqual([200, answered]);
    expect(outcome.failedAttempts).toEqual([{ channelId: failed, ...busy }]);
  });

  test('is recorded with all others in the release of a call without an answer', async () => {
    const { outcome } = await answeredBy({ upstream: overloaded });
    if (outcome?.type !== 'CallReleased') throw new Error('not released');
    expect(outcome.attempts).toHaveLength(2);
    expect(outcome.failedAttempts).toEqual(outcome.attempts.map((channelId) => ({ channelId, ...busy })));
  });

  test('has the status of the upstream, whatever status the caller receives', async () => {
    const limited = { status: 429, pieces: ['{"error":{"message":"slow down","type":"t","code":"a code, no word"}}'] };
    const { outcome } = await answeredBy({ upstream: limited });
    expect(outcome).toMatchObject({ failedAttempts: [{ status: 429, code: null }, { status: 429 }] });
  });

  test('has no status where no response arrived', async () => {
    const { outcome } = await answeredBy({ vault: async () => null as never });
    const failed = { status: null, code: 'channel_key_missing' };
    expect(outcome).toMatchObject({ type: 'CallReleased', failedAttempts: [failed, failed] });
  });

  test('is absent for a call that succeeded', async () => {
    const { outcome } = await answeredBy({});
    expect(outcome).toMatchObject({ type: 'CallSettled', failedAttempts: undefined });
  });
});

describe('an internal error', () => {
  const streamed = { status: 200, pieces: [chunk('Well'), chunk(', yes')] };

  test.each([
    ['while the key is looked up', { directory: { apiKey: mistake } }],
    ['while the call is reserved', { fault: ({ event }: NewEvent) => event.type === 'CallReserved' && mistake() }],
    ['while the request is converted', { protocol: { request: mistake } }],
    ['while the answer is read', { protocol: { answer: mistake } }],
    ['while a stream begins', { protocol: { stream: mistake }, stream: true, upstream: streamed }],
  ] satisfies [string, World][])('%s is reported as such, and logged with its stack', async (_when, world) => {
    const { status, text, logged } = await answeredBy(world);
    const { code, type, message } = errorIn(text);
    expect([status, code, type]).toEqual([500, 'internal_error', 'gateway_panic']);
    expect(message).not.toContain('mistake');
    expect(logged.bugs).toEqual([expect.stringMatching(/a mistake of ours\n\s+at /)]);
  });

  test('inside a stream ends it with an error, and the delivered part is charged', async () => {
    const protocol: World['protocol'] = {
      stream: (opened) => {
        const stream = openai.protocol.stream(opened);
        const push = stream.push.bind(stream);
        let pieces = 0;
        return Object.assign(stream, { push: (piece: Buffer) => (++pieces === 1 ? push(piece) : mistake()) });
      },
    };
    const { status, text, logged, outcome } = await answeredBy({ stream: true, upstream: streamed, protocol });
    expect(status).toBe(200);
    const [first = '', error = '', end = ''] = text.split('\n\n');
    expect(first).toContain('Well');
    expect(errorIn(error.replace('data: ', '')).code).toBe('internal_error');
    expect(end).toBe('data: [DONE]');
    expect(logged.bugs).toEqual([expect.stringMatching(/a mistake of ours\n\s+at /)]);
    expect(outcome).toMatchObject({ type: 'CallSettled', outcome: 'gateway-failed' });
  });
});

describe('a request that is signed or authorised just before it is sent', () => {
  const unauthorised = { status: 401, pieces: ['{"error":{"message":"expired","type":"t","code":"expired"}}'] };
  const overloaded = { status: 503, pieces: ['{"error":{"message":"busy","type":"t","code":"busy"}}'] };

  /** Shows another token each time. */
  function counting(renew?: (shown: string) => boolean): NonNullable<Provider['authorisation']> {
    let shown = 0;
    return {
      authorise: (request) => ({
        ok: true,
        request: { ...request, headers: { ...request.headers, authorization: `Bearer ${++shown}` } },
      }),
      ...(renew && { renew: ({ headers }) => renew(headers.authorization ?? '') }),
    };
  }

  test('is sent as it was authorised', async () => {
    const { status, sent } = await answeredBy({ authorisation: counting() });
    expect([status, sent]).toEqual([200, ['Bearer 1']]);
  });

  test('is authorised separately for each channel that is tried', async () => {
    const { sent } = await answeredBy({ authorisation: counting(), upstream: overloaded });
    expect(sent).toEqual(['Bearer 1', 'Bearer 2']);
  });

  test('is authorised again once when the upstream rejects it, and charged once', async () => {
    const asked: string[] = [];
    const renew = (shown: string): boolean => asked.push(shown) > 0;
    const upstream = (requests: number): UpstreamSays => (requests === 1 ? unauthorised : good);
    const { status, sent, outcome, events, outOfOrder } = await answeredBy({
      authorisation: counting(renew),
      upstream,
    });
    expect([status, sent, asked]).toEqual([200, ['Bearer 1', 'Bearer 2'], ['Bearer 1']]);
    expect(outcome).toMatchObject({ type: 'CallSettled', attempts: [expect.any(Number)] });
    expect(events).toHaveLength(2);
    expect(outOfOrder).toEqual([]);
  });

  test('is not authorised a third time, and its channel is disabled', async () => {
    const { status, sent, outOfOrder } = await answeredBy({
      authorisation: counting(() => true),
      upstream: unauthorised,
    });
    // Of each of two channels.
    expect([status, sent.length, outOfOrder.length]).toEqual([502, 4, 2]);
  });

  test('is not repeated where there is no other credential', async () => {
    const { sent } = await answeredBy({ authorisation: counting(() => false), upstream: unauthorised });
    expect(sent).toEqual(['Bearer 1', 'Bearer 2']);
  });

  const refusal = {
    status: 401,
    message: 'account not found',
    type: 'authentication_error',
    code: 'invalid_grant',
    param: '',
    retryAfter: null,
  };

  test('whose credentials are refused is not sent, and its channel is disabled', async () => {
    const authorisation = { authorise: async () => ({ ok: false, refusal }) as const };
    const { status, text, sent, outOfOrder, outcome } = await answeredBy({ authorisation });
    expect([status, errorIn(text).code, sent]).toEqual([502, 'upstream_account_unavailable', []]);
    expect(outOfOrder).toEqual([expect.stringContaining('account not found'), expect.anything()]);
    expect(outcome).toMatchObject({ type: 'CallReleased', suspense: 0 });
  });

  test.each([
    ['is unavailable', {}, 500, 'do_request_failed'],
    ['is slow', { timedOut: true }, 500, 'do_request_failed'],
    ['must not be dialled', { blocked: true }, 500, 'do_request_failed'],
    ['is busy', { saturated: true }, 429, 'upstream_saturated'],
  ])('is not sent when the token service %s, and nothing is charged', async (_how, why, expected, code) => {
    const unreached = { ok: false, refusal: null, saturated: false, blocked: false, timedOut: false, ...why } as const;
    const { status, text, sent, outOfOrder, outcome } = await answeredBy({
      authorisation: { authorise: () => unreached },
    });
    expect([status, errorIn(text).code, sent, outOfOrder]).toEqual([expected, code, [], []]);
    expect(outcome).toMatchObject({ type: 'CallReleased', suspense: 0 });
  });

  test('is not sent where the channel has an invalid key', async () => {
    const authorise = (): never => {
      throw new NotConvertible('channel', 'the key of this channel has no private_key');
    };
    const { status, text, sent } = await answeredBy({ authorisation: { authorise } });
    expect([status, errorIn(text).code, sent]).toEqual([500, 'convert_request_failed', []]);
  });
});
