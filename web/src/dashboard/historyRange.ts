import type { HistoryInterval, UsageDimension } from '../generated/dashboard/history.js';

import { formatClock, formatDay } from '../kit/time.js';

/* What of the past the dashboard shows, as it stands in the address. */

export const rangeNames = ['15m', '1h', '6h', '24h', '7d', '30d', '90d'] as const;
type RangeName = (typeof rangeNames)[number];
const isRangeName = (text: string): text is RangeName => rangeNames.some((name) => name === text);

/** Those of ordinary users come first. */
const dimensions = ['MODEL', 'API_KEY', 'GROUP', 'CHANNEL', 'USER'] as const satisfies readonly UsageDimension[];
const dimensionsOfUsers = 3;
export const dimensionsFor = (admin: boolean): readonly UsageDimension[] =>
  admin ? dimensions : dimensions.slice(0, dimensionsOfUsers);

export const historyDefaults = {
  /** One of the ranges, or `custom`: then `from` and `to` count. */
  range: '24h',
  /** Unix seconds. */
  from: 0,
  to: 0,
  by: 'MODEL',
};
export type HistoryParams = Readonly<typeof historyDefaults>;

/** What everything is distinguished by; what the viewer may not ask for is the first there is. */
export const dimensionOf = ({ by }: HistoryParams, admin: boolean): UsageDimension =>
  dimensionsFor(admin).find((dimension) => dimension === by) ?? 'MODEL';

export interface HistoryRange {
  readonly name: RangeName | 'custom';
  /** Unix seconds, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  readonly interval: HistoryInterval;
  /** As long a time before, up to where this one has come to. */
  readonly earlier: number;
  readonly earlierEnd: number;
  readonly earlierInterval: HistoryInterval;
}

const minute = 60;
const hour = 3_600;
const day = 24 * hour;
/** Longer ranges are shown by days: a chart has no room for more. */
const maxHours = 2 * day;
/** As far back, and as long at once, the server gives minutes. */
const minutesKept = 13 * hour;
const maxMinutes = 2 * hour;
const maxFiveMinutes = 6 * hour;
const maxDays = 400 * day;
/** Hours are given of so much at once. */
const hoursAtOnce = 32 * day;

const upTo = (at: number, length: number): number => Math.ceil(at / length) * length;

/** By the calendar of the browser: a day is not always 24 hours long. */
function midnight(at: number, days: number): number {
  const moment = new Date(at * 1000);
  return new Date(moment.getFullYear(), moment.getMonth(), moment.getDate() + days).getTime() / 1000;
}

const sameBefore = (from: number, to: number, length: number) => ({ earlier: from - length, earlierEnd: to - length });

function ofMinutes(name: RangeName | 'custom', now: number, length: number, interval: HistoryInterval): HistoryRange {
  const to = upTo(now, minute);
  const from = to - length;
  return { name, from, to, interval, ...sameBefore(from, to, length), earlierInterval: interval };
}

function ofDays(name: RangeName, now: number, days: number): HistoryRange {
  const [from, to] = [midnight(now, 1 - days), midnight(now, 1)];
  const earlier = midnight(now, 1 - 2 * days);
  // The present day is compared with as much of the day as has passed.
  const earlierEnd = Math.min(from, earlier + upTo(now, hour) - from);
  const earlierInterval = from - earlier <= hoursAtOnce ? 'HOUR' : 'DAY';
  return { name, from, to, interval: 'DAY', earlier, earlierEnd, earlierInterval };
}

function custom(from: number, to: number, now: number): HistoryRange {
  const length = Math.min(to - from, maxDays);
  const recent = from >= now - minutesKept + maxFiveMinutes;
  const interval: HistoryInterval =
    recent && length <= maxMinutes
      ? 'MINUTE'
      : recent && length <= maxFiveMinutes
        ? 'FIVE_MINUTES'
        : length <= maxHours
          ? 'HOUR'
          : 'DAY';
  const earlierInterval = interval === 'DAY' && length <= hoursAtOnce ? 'HOUR' : interval;
  const until = from + length;
  return { name: 'custom', from, to: until, interval, ...sameBefore(from, until, length), earlierInterval };
}

/** `now`: unix seconds. What is no range is the one the page begins with. */
export function historyRangeOf({ range, from, to }: HistoryParams, now: number): HistoryRange {
  if (range === 'custom' && from > 0 && to > from) return custom(from, to, now);
  const name = isRangeName(range) ? range : '24h';
  switch (name) {
    case '15m':
      return ofMinutes(name, now, 15 * minute, 'MINUTE');
    case '1h':
      return ofMinutes(name, now, hour, 'MINUTE');
    case '6h':
      return ofMinutes(name, now, 6 * hour, 'FIVE_MINUTES');
    case '24h': {
      const end = upTo(now, hour);
      const start = end - day;
      const interval = 'HOUR';
      return { name, from: start, to: end, interval, ...sameBefore(start, end, day), earlierInterval: interval };
    }
    case '7d':
      return ofDays(name, now, 7);
    case '30d':
      return ofDays(name, now, 30);
    case '90d':
      return ofDays(name, now, 90);
  }
}

export interface FailureRange extends Omit<HistoryRange, 'name'> {
  /** Whether it is longer than what was chosen. */
  readonly isWidened: boolean;
}

/** Why calls failed is counted by the hour: a range in minutes is widened to the hours it lies in. */
export function failureRangeOf({ name: _, ...range }: HistoryRange): FailureRange {
  if (lengths[range.interval] >= hour) return { ...range, isWidened: false };
  const from = Math.floor(range.from / hour) * hour;
  const to = upTo(range.to, hour);
  return { from, to, ...sameBefore(from, to, to - from), interval: 'HOUR', earlierInterval: 'HOUR', isWidened: true };
}

const lengths: Readonly<Record<HistoryInterval, number>> = {
  MINUTE: minute,
  FIVE_MINUTES: 5 * minute,
  HOUR: hour,
  DAY: day,
  WEEK: 7 * day,
};

/** Where a piece of time ends: where the next one begins. */
export const endOf = (starts: readonly number[], index: number, end: number): number => starts[index + 1] ?? end;

/** The share by which a figure has grown; null: there was nothing before. */
export const growth = (now: number, before: number): number | null => (before === 0 ? null : now / before - 1);

/** How a chart names the beginning of a piece: by the time of day, or by the day where pieces are that long. */
export const clockOf =
  (interval: HistoryInterval) =>
  (at: number): string =>
    lengths[interval] < day ? formatClock(at) : formatDay(at);
