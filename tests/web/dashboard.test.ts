import { describe, expect, test } from 'vitest';
import { byUrgency, lastChanges, lastErrorOf, noChanges, withChange } from '../../web/src/dashboard/boardChanges.js';
import { linesShown, withLines } from '../../web/src/dashboard/ownCalls.js';
import {
  lastHour,
  minutesBefore,
  type Piece,
  remembering,
  type TrafficPoint,
  windowSeconds,
} from '../../web/src/dashboard/trafficHistory.js';
import type { OwnLineFragment } from '../../web/src/generated/dashboard/ownUsage.js';
import type { ChannelChange } from '../../web/src/kit/channel/useChannelHealth.js';
import { roundCeiling } from '../../web/src/kit/chart/roundCeiling.js';

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
  test('keeps the newest figures of every twenty seconds', () =>
    expect(remembered(point(start, 1), point(start + 19, 2), point(start + 20, 3))).toEqual([
      point(start + 19, 2),
      point(start + 20, 3),
    ]));

  test('drops what is older than an hour', () =>
    expect(remembered(point(start), point(start + windowSeconds))).toEqual([point(start + windowSeconds)]));

  test('breaks the line where the page was not open', () => {
    const history = remembered(point(start), point(start + 180));
    expect(history.map(({ at, requestsPerMinute }) => [at, requestsPerMinute])).toEqual([
      [start, 1],
      [start + 20, null],
      [start + 180, 1],
    ]);
  });

  test('begins with the minutes that the server counted, each at its end, up to the newest', () => {
    const noon = start - (start % 60);
    const none = { p50: null, p95: null };
    const piece = (at: number): Piece => ({
      ...{ start: at, requests: 3, errors: 1, quota: 7, promptTokens: 5, completionTokens: 6 },
      ...{ latency: { p50: 20, p95: 30 }, firstToken: none },
    });
    expect(minutesBefore([piece(noon), piece(noon + 60)], noon + 100)).toEqual([
      {
        ...{ at: noon + 60, requestsPerMinute: 4, tokensPerMinute: 11, quotaPerMinute: 7, errorRate: 0.25 },
        ...{ latencyP50Ms: 20, latencyP95Ms: 30, firstTokenP50Ms: null, firstTokenP95Ms: null },
      },
    ]);
    expect(minutesBefore([{ ...piece(noon), requests: 0, errors: 0 }], noon + 60)[0]?.errorRate).toBe(0);
  });

  test('is an hour of whole minutes, the present one included', () => {
    const noon = start - (start % 60);
    expect(lastHour(noon + 1)).toEqual({ from: noon + 60 - windowSeconds, to: noon + 60 });
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

describe('own calls on the dashboard', () => {
  test('are added first, the newest at the head', () =>
    expect(withLines([line(1, start)], [line(2, start), line(3, start)]).map(({ id }) => id)).toEqual(['3', '2', '1']));

  test('are shown once when delivered twice', () =>
    expect(withLines([line(2, start), line(1, start)], [line(2, start), line(3, start)])).toHaveLength(3));

  test('are limited to the newest', () => {
    const old = Array.from({ length: linesShown }, (_, at) => line(100 - at, start));
    const kept = withLines(old, [line(101, start)]);
    expect([kept.length, kept[0]?.id, kept.at(-1)?.id]).toEqual([linesShown, '101', '82']);
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

  test('shows the reason of the last failure of a channel', () => expect(failed.errors.get('1')).toBe('timeout'));

  test('clears the error once the channel passes a test', () =>
    expect(withChange(failed, change({ ok: true }), undefined).errors.get('1')).toBeNull());

  test('keeps the error through an edit', () =>
    expect(withChange(failed, change({ kind: 'EDITED' }), undefined).errors.get('1')).toBe('timeout'));

  test('shows no error for a manual switch', () =>
    expect(withChange(noChanges, change({ kind: 'DISABLED', automatic: false, reason: '' }), undefined).errors).toEqual(
      new Map(),
    ));

  test('names a removed channel by its last name', () => {
    const removed = change({ kind: 'REMOVED', channel: null });
    expect(withChange(failed, removed, undefined).changes[0]?.name).toBe('east');
    expect(withChange(noChanges, removed, 'west').changes[0]?.name).toBe('west');
    expect(withChange(noChanges, removed, undefined).changes[0]?.name).toBeNull();
  });
});

describe('the recent events on the dashboard', () => {
  const kept = (position: number, at: number) => ({
    name: 'east',
    balanceBefore: null,
    fields: [],
    change: change({ position, at, kind: 'DISABLED' }),
  });
  const positions = (seen: Parameters<typeof lastChanges>[0], history: Parameters<typeof lastChanges>[1]) =>
    lastChanges(seen, history, start).map(({ change: { position } }) => position);

  test('precede live ones, each once, the newest first', () => {
    const { changes } = withChange(noChanges, change({ position: 7 }), undefined);
    expect(positions(changes, [kept(8, start), kept(7, start), kept(5, start - 60)])).toEqual([8, 7, 5]);
  });
  test('are those of the last day', () =>
    expect(positions([], [kept(8, start - 86_399), kept(7, start - 86_400)])).toEqual([8]));
});

describe('the order of the board', () => {
  const channel = (id: string, status: 'ENABLED' | 'DISABLED' | 'AUTO_DISABLED', testError: string | null = null) => ({
    ...change({}).channel,
    ...{ id, name: id, status, statusReason: '', statusTime: null, responseTimeMs: 0, testedAt: null, testError },
  });

  test('has channels with problems first, and each once', () => {
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
  test('includes the failed test of a channel that was not displayed', () =>
    expect(lastErrorOf(channel('3', 'ENABLED', 'timeout'), noChanges)).toBe('timeout'));
});

describe('the charts of the dashboard', () => {
  test('have scales that end at a round number', () =>
    expect([0, 0.03, 1, 144, 501].map(roundCeiling)).toEqual([0, 0.05, 1, 200, 1_000]));
});
