import { atIntervals } from '../../concurrency/at-intervals.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { Clock } from '../ports/storage-ports.js';
import { announcedPrices, defaultPrices, nextPriceChange } from './default-prices.js';

/* Built-in prices and records of the price table change by their dates, at midnight in UTC, without a restart. */

const lookMs = 1_000;

/** Gives the directory the prices of each day as it begins. The result ends it. */
export function followPriceCalendar(
  directory: Pick<NodeDirectory, 'takeDefaultPrices' | 'announcePrices' | 'advancePrices'>,
  clock: Clock,
  restMs = lookMs,
): () => Promise<void> {
  let next = nextPriceChange(clock.now());
  directory.announcePrices(() => announcedPrices(clock.now()));
  return atIntervals(restMs, async () => {
    const now = clock.now();
    directory.advancePrices(now);
    if (next === null || now < next) return;
    directory.takeDefaultPrices(defaultPrices(now));
    directory.announcePrices(() => announcedPrices(clock.now()));
    next = nextPriceChange(now);
  });
}
