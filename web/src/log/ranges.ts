/* Stretches of time the log is looked at by. */

export const quickRanges = [
  'today',
  'yesterday',
  'week',
  'month',
  'hour',
  'hours6',
  'hours12',
  'hours24',
  'days7',
  'days30',
] as const;
type QuickRange = (typeof quickRanges)[number];

export const isQuickRange = (text: string): text is QuickRange => quickRanges.some((range) => range === text);

/** Unix seconds, both inclusive. `to` null: no end, so that what comes from now on belongs to it. */
export interface TimeRange {
  readonly from: number;
  readonly to: number | null;
}

const seconds = (moment: Date): number => Math.floor(moment.getTime() / 1000);

const hours = { hour: 1, hours6: 6, hours12: 12, hours24: 24, days7: 7 * 24, days30: 30 * 24 } as const;

const midnight = (now: Date, daysBefore: number): Date =>
  // By the calendar: a day is not always 24 hours long.
  new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysBefore);

/** In the browser's time zone; weeks begin on Monday. */
export function timeRangeOf(range: QuickRange, now: Date): TimeRange {
  switch (range) {
    case 'today':
      return { from: seconds(midnight(now, 0)), to: null };
    case 'yesterday':
      return { from: seconds(midnight(now, 1)), to: seconds(midnight(now, 0)) - 1 };
    case 'week':
      return { from: seconds(midnight(now, (now.getDay() + 6) % 7)), to: null };
    case 'month':
      return { from: seconds(midnight(now, now.getDate() - 1)), to: null };
    default:
      return { from: seconds(now) - hours[range] * 3600, to: null };
  }
}

/** The end that is shown where a range has none: an hour ahead, so that clocks that differ hide nothing. */
export const shownEnd = (now: Date): number => seconds(now) + 3600;
