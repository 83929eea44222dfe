import { invalidField } from '../../domain/kernel/failure.js';
import { type Instant, unixSeconds } from '../../domain/kernel/instant.js';
import { pieces as lengths, minutesKept, type Piece } from '../../projections/models/usage-stats/usage-sums.js';
import { TimeZone } from '../calendar.js';

/* How a range of time is cut for a chart. */

export type HistoryInterval = 'minute' | 'five-minutes' | 'hour' | 'day' | 'week';

export interface HistoryRange {
  /** Unix seconds; rounded down to where a piece begins. */
  readonly from: number;
  /** Exclusive; rounded up. */
  readonly to: number;
  readonly interval: HistoryInterval;
  /** In which days and weeks begin, by its name in the IANA database. */
  readonly zone: string;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** The longest range of each interval, in seconds: what a chart has room for. */
const maxRange: Readonly<Record<HistoryInterval, number>> = {
  minute: 6 * hour,
  'five-minutes': minutesKept,
  hour: 32 * day,
  day: 400 * day,
  week: 2_000 * day,
};
/** The last instant of the calendar that zones are known for in every release of Node: the year 9999. */
const latest = 253_402_300_799;

/** What calls are counted by in pieces of this interval. */
export const pieceOf = (interval: HistoryInterval): Piece =>
  interval === 'minute' || interval === 'five-minutes' ? 'minute' : 'hour';

/** Where the pieces begin, and where the last one ends: unix seconds. Throws `invalid-field`. */
export function edgesOf({ from, to, interval, zone }: HistoryRange, now: Instant): number[] {
  const local = TimeZone.named('zone', zone);
  if (from < 0 || from > latest) throw invalidField('from', `unix seconds from 0 to ${latest}`);
  if (to <= from || to - from > maxRange[interval])
    throw invalidField('to', `after "from", and at most ${maxRange[interval] / hour} hours`);
  if (pieceOf(interval) === 'minute' && from < unixSeconds(now) - minutesKept)
    throw invalidField('from', `at most ${minutesKept / hour} hours ago when the interval is in minutes`);
  switch (interval) {
    case 'minute':
      return evenly(from, to, lengths.minute);
    case 'five-minutes':
      return evenly(from, to, 5 * minute);
    case 'hour':
      return evenly(from, to, lengths.hour);
    case 'day':
      return byDays(from, to, local, 1);
    case 'week':
      return byDays(from, to, local, 7);
  }
}

function evenly(from: number, to: number, length: number): number[] {
  const first = Math.floor(from / length) * length;
  return Array.from({ length: Math.ceil((to - first) / length) + 1 }, (_, index) => first + index * length);
}

/** Days, or weeks that begin on Mondays, as long as they are in the zone: with 23 hours, or with 25. */
function byDays(from: number, to: number, zone: TimeZone, days: number): number[] {
  const date = new Date(zone.dayOf(from * 1000));
  const sinceMonday = days === 7 ? (date.getUTCDay() + 6) % 7 : 0;
  const edges: number[] = [];
  for (let at = date.getUTCDate() - sinceMonday; ; at += days) {
    const begins = unixSeconds(zone.beginning(date.getUTCFullYear(), date.getUTCMonth(), at));
    // A zone may have left out a whole day.
    if (begins !== edges.at(-1)) edges.push(begins);
    if (begins >= to) return edges;
  }
}
