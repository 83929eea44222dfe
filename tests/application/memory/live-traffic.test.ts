import { beforeEach, describe, expect, test } from 'vitest';
import { type LiveTraffic, liveTraffic } from '../../../src/application/memory/live-traffic.js';
import type { TrafficFigures } from '../../../src/application/memory/traffic-tally.js';
import type { CallRefunded, CallReleased, CallSettled } from '../../../src/domain/call/call.js';
import { streams } from '../../../src/domain/events/events.js';
import { CallId, ChannelId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { Refusal } from '../../../src/domain/kernel/refusal.js';
import { type CallParties, refunded, released, reserved, settled } from '../../support/given/calls.js';
import { type SettableClock, settableClock } from '../../support/given/fixed-clock.js';
import { recordedAt } from '../../support/given/recorded.js';

/** The first moment of a minute. */
const start = Instant(1_767_323_040_000);

const nothing: TrafficFigures = {
  requestsPerMinute: 0,
  tokensPerMinute: 0,
  quotaPerMinute: 0,
  errorRate: 0,
  latencyP50Ms: null,
  latencyP95Ms: null,
  firstTokenP50Ms: null,
  firstTokenP95Ms: null,
};

let clock: SettableClock;
let traffic: LiveTraffic;
let position = 0;

beforeEach(() => {
  clock = settableClock(start);
  traffic = liveTraffic(clock);
});

const happens = (event: CallSettled | CallReleased | CallRefunded, { ageMs = 0 } = {}): void => {
  const stream = streams.call(CallId(`c${position}`));
  traffic.take([recordedAt(position++, stream, event, { at: clock.now() - ageMs })]);
};

type Settling = CallParties & { charged?: number; channelId?: number };
const serve = ({ charged = 10, ...rest }: Settling = {}, changed: Partial<CallSettled> = {}): void =>
  happens({ ...settled({ quota: 100, charged, ...rest }), ...changed });
const fail = (parties: CallParties = {}, changed: Partial<CallReleased> = {}): void =>
  happens({ ...released({ quota: 100, ...parties }), ...changed });

const total = (): TrafficFigures => traffic.snapshot().total;

/** A channel that was asked in vain. */
const failedAt = (channelId: number, durationMs = 400) => ({
  ...{ channelId: ChannelId(channelId), status: 503, code: 'busy' },
  durationMs,
});

describe('a refused call in the live traffic', () => {
  const refusal = { status: 403, code: 'insufficient_user_quota' } as Refusal;
  const badKey = { status: 401, code: 'invalid_api_key' } as Refusal;

  test('is counted by its error, most frequent first, and in no other figure', () => {
    traffic.refused(badKey, 2);
    traffic.refused(refusal, 30);
    traffic.refused(badKey, 3);
    serve();
    const { total, refused } = traffic.snapshot();
    expect(refused).toEqual([
      { status: 403, code: 'insufficient_user_quota', perMinute: 30 },
      { status: 401, code: 'invalid_api_key', perMinute: 5 },
    ]);
    expect(total).toMatchObject({ requestsPerMinute: 1, errorRate: 0 });
  });

  test('leaves after sixty seconds, also when the clock is set back', () => {
    traffic.refused(refusal, 30);
    clock.advance(59_999);
    expect(traffic.snapshot().refused).toHaveLength(1);
    clock.advance(1);
    expect(traffic.snapshot().refused).toEqual([]);
    traffic.refused(refusal, 30);
    clock.advance(-120_000);
    expect(traffic.snapshot().refused).toEqual([]);
  });
});

describe('a failed attempt', () => {
  test('is counted for its channel, while a call that another channel answered did not fail', () => {
    serve({ channelId: 4 }, { failedAttempts: [failedAt(35), failedAt(36)] });
    const { total, channels, models } = traffic.snapshot();
    expect([total.requestsPerMinute, total.errorRate, models.length]).toEqual([1, 0, 1]);
    expect(
      channels.map(({ channelId, requestsPerMinute, errorRate }) => [channelId, requestsPerMinute, errorRate]),
    ).toEqual([
      [35, 1, 1],
      [36, 1, 1],
      [4, 1, 0],
    ]);
  });

  test('counts once for its channel when no channel answered the call', () => {
    fail({}, { attempts: [ChannelId(35), ChannelId(36)], failedAttempts: [failedAt(35), failedAt(36)] });
    const { total, channels } = traffic.snapshot();
    expect(total).toMatchObject({ requestsPerMinute: 1, errorRate: 1 });
    expect(channels).toMatchObject([
      { channelId: 35, requestsPerMinute: 1, errorRate: 1 },
      { channelId: 36, requestsPerMinute: 1, errorRate: 1 },
    ]);
  });

  test('reports the latency of its channel, and leaves with its minute', () => {
    serve({ channelId: 4 }, { failedAttempts: [failedAt(35, 2_000)] });
    const [failed] = traffic.snapshot().channels;
    expect(Math.abs((failed?.latencyP50Ms ?? 0) - 2_000)).toBeLessThan(110);
    clock.advance(60_000);
    expect(traffic.snapshot().channels).toEqual([]);
  });
});

describe('the last minute of traffic', () => {
  test('is empty at first, without figures for what was not measured', () =>
    expect(traffic.snapshot()).toStrictEqual({ at: start, total: nothing, refused: [], channels: [], models: [] }));

  test('is computed once for readers within a quarter of a second', () => {
    const first = traffic.recentSnapshot();
    serve();
    clock.advance(249);
    expect(traffic.recentSnapshot()).toBe(first);
    clock.advance(1);
    expect(traffic.recentSnapshot().total.requestsPerMinute).toBe(1);
    clock.advance(-10_000);
    expect(traffic.recentSnapshot().at).toBe(clock.now());
  });

  test('counts requests, their tokens and their cost', () => {
    serve({ charged: 30 }, { usage: { input: 20, output: 5 } });
    serve({ charged: 12 });
    expect(total()).toMatchObject({ requestsPerMinute: 2, tokensPerMinute: 25 + 12, quotaPerMinute: 42, errorRate: 0 });
  });

  test('does not count a reservation: only its end is counted', () => {
    traffic.take([recordedAt(0, streams.call(CallId('c')), reserved({ quota: 5 }), { at: start })]);
    expect(total()).toStrictEqual(nothing);
  });

  test('moves on: a call leaves it after sixty seconds, neither earlier nor later', () => {
    serve();
    clock.advance(59_999);
    expect(total().requestsPerMinute).toBe(1);
    clock.advance(1);
    expect(total()).toStrictEqual(nothing);
  });

  test('drops one call after the other', () => {
    for (let second = 0; second < 60; second++) {
      serve({ charged: second });
      clock.advance(1_000);
    }
    expect(total().requestsPerMinute).toBe(59);
    clock.advance(29_000);
    expect(total()).toMatchObject({ requestsPerMinute: 30, quotaPerMinute: 1_335 });
    clock.advance(60_000);
    expect(traffic.snapshot()).toMatchObject({ total: nothing, channels: [], models: [] });
  });

  test('omits older calls that arrive late, as after a start', () => {
    happens(settled({ quota: 5, charged: 5 }), { ageMs: 61_000 });
    happens(settled({ quota: 5, charged: 7 }), { ageMs: 30_000 });
    happens(settled({ quota: 5, charged: 6 }), { ageMs: 60_000 });
    expect(total()).toMatchObject({ requestsPerMinute: 1, quotaPerMinute: 7 });
    clock.advance(30_000);
    expect(total().requestsPerMinute).toBe(0);
  });

  test('counts calls that another clock dates in the future as of now: they must not outlive the window', () => {
    happens(settled({ quota: 5, charged: 5 }), { ageMs: -3_600_000 });
    serve();
    expect(total().requestsPerMinute).toBe(2);
    clock.advance(60_000);
    expect(total()).toStrictEqual(nothing);
  });

  test('stays exact over many more calls than it holds', () => {
    for (let n = 0; n < 45_000; n++) {
      if (n % 300 === 0) clock.advance(1_000);
      serve({ charged: 1 });
    }
    expect(total()).toMatchObject({ requestsPerMinute: 18_000, quotaPerMinute: 18_000 });
  });
});

describe('a failure in the live traffic', () => {
  test('is a call that was reserved and could not be served', () => {
    serve();
    serve();
    serve();
    fail();
    expect(total()).toMatchObject({ requestsPerMinute: 4, errorRate: 0.25, tokensPerMinute: 30 });
  });
  test('leaves the window like every other call', () => {
    fail();
    clock.advance(30_000);
    serve();
    expect(total().errorRate).toBe(0.5);
    clock.advance(30_000);
    expect(total()).toMatchObject({ requestsPerMinute: 1, errorRate: 0 });
  });
  test('is an answer that was withheld after it had been charged: the call counts once, without its charge', () => {
    serve({ charged: 10 });
    serve({ charged: 10 });
    happens(refunded({ charged: 10 }));
    expect(total()).toMatchObject({ requestsPerMinute: 2, errorRate: 0.5, quotaPerMinute: 10 });
    clock.advance(60_000);
    expect(total()).toStrictEqual(nothing);
  });
  test('is an answer that broke off', () => {
    serve({}, { outcome: 'upstream-broke' });
    expect(total()).toMatchObject({ requestsPerMinute: 1, errorRate: 1, quotaPerMinute: 10 });
  });
  test.each(['caller-left', 'quota-ran-out'] as const)('is not an answer that ended because %s', (outcome) => {
    serve({}, { outcome });
    expect(total().errorRate).toBe(0);
  });
  test.each(['caller-left', 'recovered'] as const)('is not a call released because %s', (reason) => {
    fail({}, { reason });
    expect(total()).toStrictEqual(nothing);
  });
});

describe('latencies', () => {
  test('are reported as median and 95th percentile, to about five per cent', () => {
    for (let n = 1; n <= 100; n++) serve({}, { useTimeMs: n * 100, firstTokenMs: n * 10 });
    const { latencyP50Ms, latencyP95Ms, firstTokenP50Ms, firstTokenP95Ms } = total();
    for (const [shown, exact] of [
      [latencyP50Ms, 5_000],
      [latencyP95Ms, 9_500],
      [firstTokenP50Ms, 500],
      [firstTokenP95Ms, 950],
    ] as const)
      expect(Math.abs((shown ?? 0) - exact) / exact, `${shown} for ${exact}`).toBeLessThan(0.055);
  });
  test('without a first token are those of the whole only', () => {
    serve({}, { firstTokenMs: null });
    expect(total()).toMatchObject({ latencyP50Ms: expect.any(Number), firstTokenP50Ms: null });
  });
  test('beyond any class count in the first or the last', () => {
    serve({}, { useTimeMs: 0, firstTokenMs: 0 });
    expect(total().latencyP50Ms).toBe(1);
    clock.advance(60_000);
    serve({}, { useTimeMs: 1e12 });
    expect(total().latencyP50Ms).toBeGreaterThan(9_000_000);
  });
});

describe('the figures by channel and by model', () => {
  test('are the same as the total, for those that had calls', () => {
    serve({ model: 'gpt-4o', channelId: 3, charged: 10 });
    serve({ model: 'gpt-4o', channelId: 4, charged: 20 });
    serve({ model: 'o1', channelId: 4, charged: 30 });
    const { channels, models } = traffic.snapshot();
    expect(channels).toMatchObject([
      { channelId: 3, requestsPerMinute: 1, quotaPerMinute: 10 },
      { channelId: 4, requestsPerMinute: 2, quotaPerMinute: 50 },
    ]);
    expect(models).toMatchObject([
      { model: 'gpt-4o', requestsPerMinute: 2, quotaPerMinute: 30 },
      { model: 'o1', requestsPerMinute: 1, quotaPerMinute: 30 },
    ]);
  });
  test('count a failed call for the channel tried last', () => {
    fail({}, { attempts: [ChannelId(3), ChannelId(4)] });
    expect(traffic.snapshot().channels).toMatchObject([{ channelId: 4, errorRate: 1 }]);
  });
  test('count a call without a channel for its model only', () => {
    fail({ model: 'o1' }, { attempts: [], reason: 'no-channel' });
    const { channels, models } = traffic.snapshot();
    expect(channels).toStrictEqual([]);
    expect(models).toMatchObject([{ model: 'o1', requestsPerMinute: 1, errorRate: 1 }]);
  });
});
