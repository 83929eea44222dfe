import { describe, expect, test } from 'vitest';
import { byUrgency, lastChanges, lastErrorOf, noChanges, withChange } from '../../web/src/dashboard/boardChanges.js';
import { duration, durations, percent, roundCeiling } from '../../web/src/dashboard/figureTexts.js';
import { byMinute, linesShown, withLines } from '../../web/src/dashboard/ownCalls.js';
import { historyFrom, remembering, type TrafficPoint, windowSeconds } from '../../web/src/dashboard/trafficHistory.js';
import type { OwnLineFragment } from '../../web/src/generated/dashboard/ownUsage.js';
import type { ChannelChange } from '../../web/src/kit/channel/useChannelHealth.js';

const start = 1_800_000_000;
const point = (at: number, requestsPerMinute = 1): TrafficPoint => ({
  at,
  requestsPerMinute,
  tokensPerMinute: 0,
  quotaPerMinute: 0,
  errorRate: 0,
  latencyP50Ms: null,
  latencyP95Ms: null,
  firstTokenP50Ms: null,
  firstTokenP95Ms: null,
});
const remembered = (...points: TrafficPoint[]) => points.reduce<readonly TrafficPoint[]>(remembering, []);

describe('the history behind the charts', () => {
  test('keeps the newest figures of every five seconds', () =>
    expect(remembered(point(start, 1), point(start + 4, 2), point(start + 5, 3))).toEqual([
      point(start + 4, 2),
      point(start + 5, 3),
    ]));

  test('forgets what is older than a quarter of an hour', () =>
    expect(remembered(point(start), point(start + windowSeconds))).toEqual([point(start + windowSeconds)]));

  test('breaks the line where nobody was looking', () => {
    const history = remembered(point(start), point(start + 60));
    expect(history.map(({ at, requestsPerMinute }) => [at, requestsPerMinute])).toEqual([
      [start, 1],
      [start + 5, null],
      [start + 60, 1],
    ]);
  });

  test('survives a reload as text; anything else is no history', () => {
    const history = remembered(point(start), point(start + 5));
    expect(historyFrom(JSON.stringify(history))).toEqual(history);
    expect([null, '{', '{"at":1}', '[1]'].map(historyFrom)).toEqual([[], [], [], []]);
  });
});

const line = (id: number, createdAt: number, patch: Partial<OwnLineFragment> = {}): OwnLineFragment => ({
  id: String(id),
  createdAt,
  type: 'CONSUME',
  model: 'gpt-4o',
  apiKeyName: 'demo',
  promptTokens: 3,
  completionTokens: 4,
  quota: 10,
  isStream: false,
  useTimeMs: 5,
  firstTokenMs: null,
  ...patch,
});

describe('one’s own calls', () => {
  test('lines that arrive come first, the newest at the head', () =>
    expect(withLines([line(1, start)], [line(2, start), line(3, start)], start).map(({ id }) => id)).toEqual([
      '3',
      '2',
      '1',
    ]));

  test('a line delivered twice is shown once', () =>
    expect(withLines([line(2, start), line(1, start)], [line(2, start), line(3, start)], start)).toHaveLength(3));

  test('old lines go, but for the few that are listed', () => {
    const old = Array.from({ length: linesShown + 5 }, (_, at) => line(100 - at, start));
    expect(withLines(old, [line(101, start + windowSeconds + 1)], start + windowSeconds + 1)).toHaveLength(linesShown);
  });

  test('are summed by the minute, quiet ones included; failures cost nothing and do not count', () => {
    const noon = start - (start % 60);
    const minutes = byMinute(
      [line(3, noon + 59), line(2, noon + 1), line(1, noon + 2, { type: 'ERROR', quota: 0 })],
      noon + 60,
      0,
    );
    expect(minutes).toHaveLength(15);
    expect(minutes.at(-2)).toEqual({ at: noon, requests: 2, quota: 20 });
    expect(minutes.at(-1)).toEqual({ at: noon + 60, requests: 0, quota: 0 });
  });

  test('a minute that is not known whole is left out', () => {
    const noon = start - (start % 60);
    expect(byMinute([line(1, noon + 30)], noon + 59, noon + 10).at(-1)).toEqual({
      at: noon,
      requests: null,
      quota: null,
    });
  });
});

const change = (patch: Partial<ChannelChange>): ChannelChange => ({
  position: 9,
  kind: 'TESTED',
  at: start,
  channelId: '1',
  by: null,
  automatic: null,
  ok: null,
  reason: null,
  responseTimeMs: null,
  balance: null,
  channel: {
    id: '1',
    name: 'east',
    status: 'ENABLED',
    statusReason: '',
    statusTime: null,
    responseTimeMs: 0,
    testedAt: null,
    testError: null,
  },
  ...patch,
});

describe('the channel board', () => {
  const failed = withChange(noChanges, change({ ok: false, reason: 'timeout' }), undefined);

  test('shows why a channel failed last', () => expect(failed.errors.get('1')).toBe('timeout'));

  test('clears the error once the channel passes a test', () =>
    expect(withChange(failed, change({ ok: true }), undefined).errors.get('1')).toBeNull());

  test('keeps the error through an edit', () =>
    expect(withChange(failed, change({ kind: 'EDITED' }), undefined).errors.get('1')).toBe('timeout'));

  test('an order by hand is no error', () =>
    expect(withChange(noChanges, change({ kind: 'DISABLED', automatic: false, reason: '' }), undefined).errors).toEqual(
      new Map(),
    ));

  test('names a channel that is gone as it was called', () => {
    const removed = change({ kind: 'REMOVED', channel: null });
    expect(withChange(failed, removed, undefined).changes[0]?.name).toBe('east');
    expect(withChange(noChanges, removed, 'west').changes[0]?.name).toBe('west');
    expect(withChange(noChanges, removed, undefined).changes[0]?.name).toBeNull();
  });
});

describe('what happened while nobody looked', () => {
  const kept = (position: number, at: number) => ({
    name: 'east',
    balanceBefore: null,
    fields: [],
    change: change({ position, at, kind: 'DISABLED' }),
  });
  const positions = (seen: Parameters<typeof lastChanges>[0], history: Parameters<typeof lastChanges>[1]) =>
    lastChanges(seen, history, start).map(({ change: { position } }) => position);

  test('comes before what is seen, each once, the newest first', () => {
    const { changes } = withChange(noChanges, change({ position: 7 }), undefined);
    expect(positions(changes, [kept(8, start), kept(7, start), kept(5, start - 60)])).toEqual([8, 7, 5]);
  });
  test('is of the last day', () =>
    expect(positions([], [kept(8, start - 86_399), kept(7, start - 86_400)])).toEqual([8]));
});

describe('the order of the board', () => {
  const channel = (id: string, status: 'ENABLED' | 'DISABLED' | 'AUTO_DISABLED', testError: string | null = null) => ({
    ...change({}).channel,
    ...{ id, name: id, status, statusReason: '', statusTime: null, responseTimeMs: 0, testedAt: null, testError },
  });

  test('has those first that need somebody, and each once', () => {
    const failing = channel('3', 'ENABLED', 'timeout');
    const channels = [
      channel('1', 'ENABLED'),
      channel('2', 'DISABLED'),
      failing,
      channel('4', 'AUTO_DISABLED'),
      failing,
    ];
    expect(byUrgency(channels).map(({ id }) => id)).toEqual(['4', '3', '2', '1']);
  });
  test('knows the failed test of a channel that nobody watched', () =>
    expect(lastErrorOf(channel('3', 'ENABLED', 'timeout'), noChanges)).toBe('timeout'));
});

describe('figures', () => {
  test('shares are percents, with a decimal where they are small', () =>
    expect([0, 0.004, 0.123, 1].map(percent)).toEqual(['0%', '0.4%', '12%', '100%']));

  test('durations are milliseconds, then seconds; a dash without a sample', () => {
    expect([340, 1_500, null].map(duration)).toEqual(['340 ms', '1.5 s', '—']);
    expect(durations(null, null)).toBe('—');
    expect(durations(20, 1_000)).toBe('20 ms / 1.0 s');
  });

  test('scales end at a round number', () =>
    expect([0, 0.03, 1, 144, 501].map(roundCeiling)).toEqual([0, 0.05, 1, 200, 1_000]));
});
