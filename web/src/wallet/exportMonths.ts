/* Months as the browser's clock has them: `2026-03`. Moments are Unix seconds. */

/** The server has no files of earlier ones. */
const firstYear = 2020;

const nameOf = (year: number, month: number): string => `${year}-${String(month + 1).padStart(2, '0')}`;

/** Every month from the one of `since` to the one of `now`, the newest first. */
export function monthsSince(since: number, now: number): string[] {
  const [first, last] = [new Date(since * 1000), new Date(now * 1000)];
  const oldest = first.getFullYear() < firstYear ? nameOf(firstYear, 0) : nameOf(first.getFullYear(), first.getMonth());
  const current = nameOf(last.getFullYear(), last.getMonth());
  const months = [current];
  for (let back = 1; (months.at(-1) ?? oldest) > oldest; back++) {
    const month = new Date(last.getFullYear(), last.getMonth() - back, 1);
    months.push(nameOf(month.getFullYear(), month.getMonth()));
  }
  return months;
}

/** The last one that is over; where there is none, the current one. */
export const usualMonth = (months: readonly string[]): string => months[1] ?? months[0] ?? '';
