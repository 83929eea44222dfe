import type { ChannelFiguresQuery, HistoryInterval } from '../generated/channels/channelPage.js';

/* How a channel did in a range of time. Times are Unix seconds. */

const hour = 3_600;
const day = 24 * hour;

/** How long each is, and into what its charts cut it. */
const shapes = {
  '15m': { seconds: hour / 4, interval: 'MINUTE' },
  '1h': { seconds: hour, interval: 'MINUTE' },
  '6h': { seconds: 6 * hour, interval: 'FIVE_MINUTES' },
  '24h': { seconds: day, interval: 'HOUR' },
  '7d': { seconds: 7 * day, interval: 'HOUR' },
  '30d': { seconds: 30 * day, interval: 'DAY' },
  '90d': { seconds: 90 * day, interval: 'DAY' },
} as const satisfies Record<string, { readonly seconds: number; readonly interval: HistoryInterval }>;

export type Range = keyof typeof shapes;

export const ranges: readonly Range[] = ['15m', '1h', '6h', '24h', '7d', '30d', '90d'];
export const isRange = (text: string): text is Range => Object.hasOwn(shapes, text);

export interface Span {
  readonly from: number;
  readonly to: number;
  readonly interval: HistoryInterval;
  /** In which days begin. */
  readonly zone: string;
  /** Failed attempts are summed by the hour: where the first of these begins. */
  readonly wholeHoursFrom: number;
}

/** Up to `now`. */
export function spanOf(range: Range, now: number, zone: string): Span {
  const { seconds, interval } = shapes[range];
  const from = now - seconds;
  return { from, to: now, interval, zone, wholeHoursFrom: Math.floor(from / hour) * hour };
}

type History = ChannelFiguresQuery['usageHistory'];

export type Piece = History['pieces'][number];

/** Until when a piece lasts, inclusive. */
export const endOf = ({ pieces, to }: Pick<History, 'pieces' | 'to'>, index: number): number =>
  (pieces[index + 1]?.start ?? to) - 1;

export interface Attempts {
  readonly failures: number;
  /** Those of them whose callers another channel answered. */
  readonly rescued: number;
  /** Of all attempts, those that were answered; null: nobody asked, or hours are too coarse to say. */
  readonly success: number | null;
}

export function attemptsOf(
  {
    usageHistory,
    channelFailures: causes,
  }: Pick<ChannelFiguresQuery, 'channelFailures'> & {
    readonly usageHistory: { readonly total: Pick<History['total'], 'requests'> };
  },
  { interval }: Pick<Span, 'interval'>,
): Attempts {
  const { requests } = usageHistory.total;
  const failures = causes.reduce((total, cause) => total + cause.failures, 0);
  const rescued = causes.reduce((total, cause) => total + cause.rescued, 0);
  const isComparable = interval === 'HOUR' || interval === 'DAY';
  return {
    failures,
    rescued,
    success: isComparable && requests + failures > 0 ? requests / (requests + failures) : null,
  };
}

interface LogSelection {
  readonly channel: string;
  readonly from: number;
  readonly to: number;
  readonly type?: 'CONSUME' | 'ERROR';
}

/** The usage log, filtered to what a figure is about. */
export function logAddress({ from, to, ...named }: LogSelection): string {
  const filter = { range: 'custom', from: String(from), to: String(to), ...named };
  return `/log?${new URLSearchParams(filter)}`;
}
