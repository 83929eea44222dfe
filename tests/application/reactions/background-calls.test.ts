import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handle } from '../../../src/application/handle.js';
import type { BackgroundCall, BackgroundState } from '../../../src/application/ports/background-call-ports.js';
import { OpenBackgroundCalls } from '../../../src/application/reactions/background-calls.js';
import { streams } from '../../../src/domain/events/events.js';
import { CallId, type ChannelId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { alice, at, east, reserved, toRecord, west } from '../../projections/history.js';
import { type SettableClock, settableClock } from '../../support/given/fixed-clock.js';
import { MemoryEventStore } from '../../support/memory/memory-event-store.js';

const minute = 60_000;
const hour = 60 * minute;
const running: BackgroundState = { kind: 'running' };
const unreached: BackgroundState = { kind: 'unreached' };
const missing: BackgroundState = { kind: 'missing' };
const unmeasured: BackgroundState = { kind: 'unmeasured', kept: undefined };
const failed: BackgroundState = { kind: 'failed', code: 'server_error' };
const delivered = { usage: { input: 120, output: 100 }, usageSource: 'estimated' } as const;

let clock: SettableClock;
let store: MemoryEventStore;
let rows: Map<string, BackgroundCall>;
let served: Set<string>;
let asked: string[];
let warned: string[];
let answer: (call: BackgroundCall) => BackgroundState | Promise<BackgroundState>;
let calls: OpenBackgroundCalls;

const backgroundCall = (id: string, channelId: ChannelId = east): BackgroundCall => ({
  ...{ callId: CallId(id), userId: alice, channelId, responseId: `resp_${id}`, since: clock.now(), model: 'm' },
  ...{ bound: { input: 120, output: 100 } as BackgroundCall['bound'], promptTokens: 120, service: null },
  course: {
    ...{ attempts: [channelId], failedAttempts: undefined, upstreamModel: null },
    ...{ reasoningEffort: null, unknownAttempts: 0 },
  },
});
const opened = () =>
  new OpenBackgroundCalls({
    calls: {
      all: async () => [...rows.values()],
      add: async (call) => void rows.set(call.callId, call),
      update: async (call) => void (rows.has(call.callId) && rows.set(call.callId, call)),
      remove: async (callId) => void rows.delete(callId),
    },
    ...{ store, handle: handle(store, clock), clock },
    gate: { chargeLeft: async (_left, cost) => cost },
    ask: async (call) => {
      asked.push(call.callId);
      return answer(call);
    },
    hasChannel: () => true,
    isServed: (callId) => served.has(callId),
    ...{ began: () => {}, settled: () => {}, ended: () => {} },
    warn: (_facts, message) => void warned.push(message),
  });
const begin = async (id: string, channelId?: ChannelId): Promise<CallId> => {
  const { stream, ...fact } = reserved(id, 900);
  await store.append(stream, [toRecord({ stream, ...fact })], 'any');
  await calls.begin(backgroundCall(id, channelId));
  return CallId(id);
};
const outcomeOf = async (id: CallId) => (await store.readStream(streams.call(id)))[1]?.event;

beforeEach(() => {
  clock = settableClock(at());
  store = new MemoryEventStore();
  rows = new Map();
  served = new Set();
  asked = [];
  warned = [];
  answer = () => running;
  calls = opened();
});
afterEach(() => void vi.useRealTimers());

describe('a call in the background that ends without a usage', () => {
  test.each([
    ['is cancelled', unmeasured],
    ['fails', failed],
    ['is lost', { kind: 'lost' } as const],
    [
      'has ended with less than that',
      { kind: 'ended', used: { usage: { input: 120 }, usageSource: 'estimated', outcome: 'completed' } } as const,
    ],
  ])('is charged for what its stream had delivered where it %s', async (_what, end) => {
    const id = await begin('a');
    await calls.delivered(id, delivered);
    answer = () => end;
    await calls.look(id);
    // (120 in + 100 out × 4) × 1.25
    expect(await outcomeOf(id)).toMatchObject({ type: 'CallSettled', charged: Quota(650) });
    expect(rows.size).toBe(0);
  });

  test('is charged for what its stream had delivered by the process after this one', async () => {
    const id = await begin('a');
    await calls.delivered(id, delivered);
    calls = opened();
    await calls.load();
    answer = () => unmeasured;
    await calls.look(id);
    expect(await outcomeOf(id)).toMatchObject({ type: 'CallSettled', charged: Quota(650) });
  });

  test('is charged by the usage that upstream reports where there is one, though more was delivered', async () => {
    const id = await begin('a');
    await calls.delivered(id, delivered);
    const used = { usage: { input: 120, output: 1 }, usageSource: 'upstream', outcome: 'completed' } as const;
    answer = () => ({ kind: 'ended', used });
    await calls.look(id);
    expect(await outcomeOf(id)).toMatchObject({ usage: used.usage, usageSource: 'upstream' });
  });

  test('has an unknown outcome where it is cancelled and nothing was delivered', async () => {
    const id = await begin('a');
    answer = () => unmeasured;
    await calls.look(id);
    expect(await outcomeOf(id)).toMatchObject({ type: 'CallReleased', reason: 'recovered', suspense: 900 });
  });

  test('has no outcome before its own stream is cut', async () => {
    const id = await begin('a');
    served.add(id);
    answer = () => unmeasured;
    await calls.look(id);
    expect(await outcomeOf(id)).toBeUndefined();
    await calls.delivered(id, delivered);
    await calls.look(id);
    expect(await outcomeOf(id)).toMatchObject({ charged: 650 });
  });
});

describe('a call in the background without a known end', () => {
  test('is lost after fifteen minutes of not being known, and not before', async () => {
    const id = await begin('a');
    answer = () => missing;
    await calls.look(id);
    clock.advance(14 * minute);
    await calls.look(id);
    expect(await outcomeOf(id)).toBeUndefined();
    clock.advance(minute);
    await calls.look(id);
    expect(await outcomeOf(id)).toMatchObject({ type: 'CallReleased', suspense: 900 });
  });

  test('begins to be missing again after its upstream has known it', async () => {
    const id = await begin('a');
    for (const state of [missing, running, missing]) {
      answer = () => state;
      await calls.look(id);
      clock.advance(14 * minute);
    }
    expect(await outcomeOf(id)).toBeUndefined();
  });

  test('is polled during an hour of a process that starts after a day, before it is lost', async () => {
    const id = await begin('a');
    clock.advance(30 * hour);
    calls = opened();
    await calls.load();
    answer = () => unreached;
    await calls.look(id);
    clock.advance(59 * minute);
    await calls.look(id);
    expect(await outcomeOf(id)).toBeUndefined();
    clock.advance(minute);
    await calls.look(id);
    expect(await outcomeOf(id)).toMatchObject({ type: 'CallReleased' });
  });

  test('is lost after a day although each look at it fails unexpectedly', async () => {
    const id = await begin('a');
    answer = () => {
      throw new TypeError('unexpected');
    };
    await calls.look(id);
    expect(warned).toHaveLength(1);
    clock.advance(25 * hour);
    await calls.look(id);
    expect(await outcomeOf(id)).toMatchObject({ type: 'CallReleased' });
  });
});

describe('calls in the background', () => {
  test('are polled four at a time of a channel, and those of another channel are not held up', async () => {
    vi.useFakeTimers();
    for (let n = 0; n < 20; n++) await begin(`slow-${n}`, east);
    await begin('other', west);
    answer = ({ channelId }) => (channelId === east ? new Promise<BackgroundState>(() => {}) : running);
    clock.advance(minute);
    void calls.start();
    await vi.advanceTimersByTimeAsync(1_600);
    expect(asked.filter((id) => id.startsWith('slow'))).toHaveLength(4);
    expect(asked).toContain('other');
  });

  test('are polled in turn, though each is due again at once', async () => {
    vi.useFakeTimers();
    const ids = Array.from({ length: 10 }, (_, n) => `call-${n}`);
    for (const id of ids) await begin(id);
    const stop = calls.start();
    for (let n = 0; n < 3; n++) {
      clock.advance(hour);
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(new Set(asked)).toEqual(new Set(ids));
    await stop();
  });
});

describe('slots for calls in the background', () => {
  const ids = (count: number, name = 'slot') => Array.from({ length: count }, (_, n) => CallId(`${name}-${n}`));
  const takeAll = async (callIds: readonly CallId[], user: UserId = alice) => {
    const taken = await Promise.all(callIds.map(async (id) => ((await calls.takeSlot(id, user)) ? id : null)));
    return taken.filter((id) => id !== null);
  };

  test('are taken by a hundred of 300 calls of one user that come at once, and by all of another', async () => {
    const [taken, others] = await Promise.all([takeAll(ids(300)), takeAll(ids(50, 'other'), UserId(alice + 1))]);
    expect([taken.length, others.length]).toEqual([100, 50]);
  });

  test('are given back once by calls that did not begin', async () => {
    const taken = await takeAll(ids(100));
    for (const id of [...taken, ...taken, CallId('never-taken')]) calls.releaseSlot(id);
    expect(await takeAll(ids(300, 'next'))).toHaveLength(100);
  });

  test('belong to the calls that begin, until these have their outcome', async () => {
    const [first, ...others] = await takeAll(ids(100));
    if (first === undefined) throw new Error('no slot');
    await begin(first);
    calls.releaseSlot(first);
    expect(await calls.takeSlot(CallId('more'), alice)).toBe(false);
    for (const id of others) calls.releaseSlot(id);
    expect(await takeAll(ids(300, 'next'))).toHaveLength(99);
    await calls.end(first);
    await calls.end(first);
    expect(await takeAll(ids(2, 'last'))).toHaveLength(1);
  });

  test('are given back by a call that could not be written down', async () => {
    const [first] = await takeAll(ids(100));
    if (first === undefined) throw new Error('no slot');
    rows.set = () => {
      throw new Error('the database is away');
    };
    await expect(calls.begin(backgroundCall(first))).rejects.toThrow('the database is away');
    expect(await takeAll(ids(2, 'next'))).toHaveLength(1);
  });

  test('count calls that an earlier process has left', async () => {
    for (const id of ids(60, 'left')) rows.set(id, backgroundCall(id));
    await calls.load();
    expect(await takeAll(ids(300))).toHaveLength(40);
  });
});
