import { beforeEach, describe, expect, test } from 'vitest';
import { newEventId } from '../../../../src/application/event-id.js';
import type { ExpectedRevision } from '../../../../src/application/ports/storage-ports.js';
import { beginning, type NewEvent, type StreamName, streams } from '../../../../src/domain/events/events.js';
import { Failure } from '../../../../src/domain/kernel/failure.js';
import { ApiKeyId, CallId, UserId } from '../../../../src/domain/kernel/ids.js';
import type { CallRefused, CallsRefused, Refusal } from '../../../../src/domain/kernel/refusal.js';
import { type RefusalRecord, recordRefusals } from '../../../../src/relay/pipeline/record-refusals.js';
import { RefusalTally } from '../../../../src/relay/pipeline/refusal-tally.js';
import { reserved } from '../../../support/given/calls.js';
import { someInstant } from '../../../support/given/events.js';
import { type SettableClock, settableClock } from '../../../support/given/fixed-clock.js';
import { MemoryEventStore } from '../../../support/memory/memory-event-store.js';

/* What becomes of calls that are refused: how many events, of whom, and what a flood of them may cost. */

const refusal = (changed: Partial<Refusal> = {}): Refusal => ({
  userId: UserId(7),
  apiKeyId: ApiKeyId(12),
  apiKeyName: 'ci',
  group: 'default',
  model: 'gpt-4o',
  path: '/v1/chat/completions',
  status: 403,
  code: 'insufficient_user_quota',
  network: null,
  ...changed,
});

/** Of a caller whose key nobody knows. */
const stranger = (network: string): Refusal =>
  refusal({
    ...{ userId: null, apiKeyId: null, apiKeyName: '', group: '', model: '', network },
    ...{ status: 401, code: 'invalid_api_key' },
  });

class FailingStore extends MemoryEventStore {
  failure: Error | null = null;
  /** What was appended, but its answer lost. */
  answersLost = false;

  override async append(stream: StreamName, events: readonly NewEvent[], expected: ExpectedRevision) {
    if (this.failure !== null && !this.answersLost) throw this.failure;
    const result = await super.append(stream, events, expected);
    if (this.failure !== null) throw this.failure;
    return result;
  }
}

let clock: SettableClock;
let store: FailingStore;
let record: RefusalRecord;
let counted: number;
let warned: unknown[];
let calls = 0;

beforeEach(() => {
  clock = settableClock(someInstant);
  store = new FailingStore();
  counted = 0;
  warned = [];
  record = recordRefusals({
    store,
    clock,
    newEventId,
    counted: (_, count) => {
      counted += count;
    },
    warn: (facts) => void warned.push(facts),
  });
});

const refuse = (what: Refusal, times = 1): void => {
  for (let n = 0; n < times; n++) record.own.count(what, CallId(`c${++calls}`), clock.now());
};

/** Writes what is due a minute later, too. */
const aMinuteLater = async (): Promise<void> => {
  await record.write();
  clock.advance(60_000);
  await record.write();
};

const events = async () => (await store.readAll(beginning, 10_000)).map(({ event }) => event);
const recorded = async () => (await events()).filter((event) => event.type === 'CallRefused') as CallRefused[];
const sums = async () => (await events()).filter((event) => event.type === 'CallsRefused') as CallsRefused[];
const total = async (): Promise<number> =>
  (await recorded()).length + (await sums()).reduce((sum, { count }) => sum + count, 0);

describe('a refused call', () => {
  test('is an event in the stream of its call, with the time of the refusal', async () => {
    record.own.count(refusal(), CallId('abc'), clock.now());
    clock.advance(900);
    await record.write();
    const [event, ...others] = await store.readStream(streams.call(CallId('abc')));
    expect(event).toMatchObject({ at: someInstant, event: { type: 'CallRefused', refusal: refusal() } });
    expect(others).toEqual([]);
  });

  test('is recorded singly up to five of a kind in a minute; the rest is one total, once the minute has ended', async () => {
    refuse(refusal(), 417);
    await record.write();
    expect([await recorded(), await sums()].map(({ length }) => length)).toEqual([5, 0]);
    clock.advance(60_000);
    await record.write();
    expect(await sums()).toEqual([{ type: 'CallsRefused', refusal: refusal(), count: 412, since: someInstant }]);
  });

  test('is recorded singly again in the next minute', async () => {
    refuse(refusal(), 6);
    await aMinuteLater();
    refuse(refusal(), 2);
    await aMinuteLater();
    expect([await recorded(), await sums()].map(({ length }) => length)).toEqual([7, 1]);
  });

  test.each<[string, Partial<Refusal>]>([
    ['another key', { apiKeyId: ApiKeyId(13) }],
    ['another model', { model: 'gpt-4' }],
    ['another code', { code: 'token_budget_exceeded' }],
    ['another status of the same code', { status: 429 }],
    ['another path', { path: '/v1/messages' }],
    ['another signed-in user', { userId: UserId(8), apiKeyId: null }],
  ])('with %s is another kind', async (_, other) => {
    refuse(refusal(), 7);
    refuse(refusal(other), 7);
    await aMinuteLater();
    expect((await sums()).map(({ count }) => count)).toEqual([2, 2]);
  });

  test('is recorded in the stream of its hour when it is part of a total', async () => {
    refuse(refusal(), 6);
    await aMinuteLater();
    expect(await store.readStream(streams.refusals(clock.now()))).toHaveLength(1);
    clock.advance(3_600_000);
    refuse(refusal(), 6);
    await aMinuteLater();
    expect(await store.readStream(streams.refusals(clock.now()))).toHaveLength(1);
  });

  test('is added to the totals of an earlier node and of earlier minutes, once, at known revisions', async () => {
    const expectations: ExpectedRevision[] = [];
    const append = store.append.bind(store);
    store.append = (stream, appended, expected) => {
      if (stream.startsWith('refusals-')) expectations.push(expected);
      return append(stream, appended, expected);
    };
    const earlier = recordRefusals({ store, clock, newEventId, counted: () => {}, warn: () => {} });
    earlier.own.count(stranger('192.0.2.0'), CallId('before'), clock.now());
    for (let n = 0; n < 9; n++) earlier.own.count(refusal(), CallId(`before-${n}`), clock.now());
    await earlier.startWriting()();
    for (let minute = 0; minute < 2; minute++) {
      refuse(refusal(), 8);
      await aMinuteLater();
    }
    expect((await sums()).map(({ count }) => count)).toEqual([4, 3, 3]);
    expect(await store.readStream(streams.refusals(clock.now()))).toHaveLength(3);
    expect(expectations).toEqual(['no-stream', 'no-stream', 0, 1]);
  });

  test('without a known call is part of the total only', async () => {
    record.own.count(refusal(), null, clock.now());
    await aMinuteLater();
    expect(await events()).toMatchObject([{ type: 'CallsRefused', count: 1 }]);
  });

  test('is not recorded where the stream of the call records it already', async () => {
    const at = clock.now();
    const reservation = { id: newEventId(at), at, event: reserved({ quota: 5 }) };
    await store.append(streams.call(CallId('abc')), [reservation], 'no-stream');
    record.own.count(refusal(), CallId('abc'), at);
    await record.write();
    expect((await events()).map(({ type }) => type)).toEqual(['CallReserved']);
  });

  test('of a worker counts like one of this process, in the same totals', async () => {
    const ofWorker = new RefusalTally();
    for (let n = 0; n < 100; n++) ofWorker.count(refusal(), CallId(`w${n}`), clock.now());
    refuse(refusal(), 100);
    record.take(JSON.parse(JSON.stringify(ofWorker.take())));
    await aMinuteLater();
    expect([(await recorded()).length, await total(), counted]).toEqual([5, 200, 200]);
  });

  test('is written when the gateway stops', async () => {
    const stop = record.startWriting();
    refuse(refusal(), 9);
    await stop();
    expect(await total()).toBe(9);
  });
});

describe('an event log that does not answer', () => {
  test.each([
    ['before anything is written', false],
    ['after it was written', true],
  ])('%s is retried, and no refusal is lost or recorded twice', async (_, answersLost) => {
    store.failure = new Failure('store-unavailable');
    store.answersLost = answersLost;
    refuse(refusal(), 30);
    await aMinuteLater();
    refuse(refusal(), 30);
    store.failure = null;
    await aMinuteLater();
    expect([await total(), counted]).toEqual([60, 60]);
    expect(warned).toEqual([]);
  });

  test('for an hour causes no growth: the refusals of that time are one total for each kind', async () => {
    store.failure = new Failure('store-unavailable');
    for (let minute = 0; minute < 60; minute++) {
      for (let user = 1; user <= 100; user++) refuse(refusal({ userId: UserId(user) }), 10);
      await aMinuteLater();
    }
    store.failure = null;
    await aMinuteLater();
    expect(await total()).toBe(60 * 100 * 10);
    expect((await events()).length).toBeLessThan(1_000);
  });

  test('for one refusal permanently loses that one only, and reports it', async () => {
    store.failure = new Error('an event that cannot be written');
    refuse(refusal());
    await record.write();
    store.failure = null;
    refuse(refusal());
    await aMinuteLater();
    expect([(await recorded()).length, warned.length]).toEqual([1, 1]);
  });
});

test('at most twenty refusals are appended at once however many wait, so that outcomes of calls get their turn', async () => {
  let onTheWay = 0;
  let max = 0;
  const append = store.append.bind(store);
  store.append = async (...asked) => {
    max = Math.max(max, ++onTheWay);
    await new Promise((resolve) => setImmediate(resolve));
    onTheWay--;
    return append(...asked);
  };
  for (let user = 1; user <= 150; user++) refuse(refusal({ userId: UserId(user) }));
  await record.write();
  expect([(await recorded()).length, max]).toEqual([150, 20]);
});

describe('a flood of a hundred thousand refusals in a minute', () => {
  const flood = 100_000;
  /** Spread over the minute, a second at a time. */
  const through = async (next: (n: number) => Refusal): Promise<void> => {
    for (let n = 0; n < flood; n++) {
      refuse(next(n));
      if (n % 2_000 !== 1_999) continue;
      await record.write();
      clock.advance(1_000);
    }
    await aMinuteLater();
  };

  test.each<[string, (n: number) => Refusal, number]>([
    ['from one network makes six events', () => stranger('192.0.2.0/24'), 6],
    [
      'from ten thousand networks makes some events',
      (n) => stranger(`10.${n % 100}.${Math.floor(n / 100) % 100}.0/24`),
      100,
    ],
    [
      'of invented models makes some events',
      (n) => refusal({ model: `m-${n}`, code: 'model_not_found', status: 404 }),
      350,
    ],
    ['of a thousand users makes some hundreds of events', (n) => refusal({ userId: UserId(1 + (n % 1_000)) }), 505],
  ])('%s, and the totals include all of them', async (_, next, max) => {
    await through(next);
    expect((await events()).length).toBeLessThanOrEqual(max);
    expect([await total(), counted]).toEqual([flood, flood]);
  });

  test('does not prevent that a user is notified of refusals', async () => {
    for (let n = 0; n < flood; n++) refuse(stranger(`10.${n % 100}.${Math.floor(n / 100) % 100}.0/24`));
    refuse(refusal());
    await record.write();
    expect(await recorded()).toContainEqual({ type: 'CallRefused', refusal: refusal() });
  });

  test('by one user does not hide the refusals of others', async () => {
    for (let n = 0; n < flood; n++) refuse(refusal({ model: `m-${n}` }));
    refuse(refusal({ userId: UserId(8) }));
    await record.write();
    expect(await recorded()).toContainEqual({ type: 'CallRefused', refusal: refusal({ userId: UserId(8) }) });
  });
});

describe('a refusal counter', () => {
  test('holds no more kinds than its limit, whatever it counts', () => {
    const tally = new RefusalTally();
    for (let n = 0; n < 20_000; n++)
      tally.count(
        refusal({ userId: UserId(1 + (n % 5_000)), model: `m-${n}`, code: `code_${n % 300}` }),
        CallId(`c${n}`),
        clock.now(),
      );
    const kinds = tally.take();
    expect(kinds.length).toBeLessThanOrEqual(251);
    expect(kinds.reduce((sum, { first, more }) => sum + first.length + more, 0)).toBe(20_000);
    expect(tally.take()).toEqual([]);
  });
});
