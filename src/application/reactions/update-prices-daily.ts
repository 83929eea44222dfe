import { atIntervals } from '../../concurrency/at-intervals.js';
import type { Clock } from '../ports/storage-ports.js';
import type { PriceUpdates } from '../prices/price-updates.js';

/* Sources of prices are fetched once a day, one after the other, where the option says so. */

interface DailyPriceUpdatePorts {
  readonly updates: Pick<PriceUpdates, 'dailySources' | 'updateUnasked'>;
  readonly clock: Clock;
}

interface DailyPriceUpdateOptions {
  /** Between two looks. */
  readonly everyMs: number;
  readonly updated: (facts: { readonly source: string; readonly models: number }) => void;
  readonly failed: (error: unknown, source: string) => void;
}

const dayMs = 86_400_000;

/** One look. A source that fails is tried again the next day, and keeps no other from being fetched. */
export async function fetchDue(
  { updates, clock }: DailyPriceUpdatePorts,
  { updated, failed }: Pick<DailyPriceUpdateOptions, 'updated' | 'failed'>,
): Promise<void> {
  for (const { source, triedAt } of updates.dailySources()) {
    if (triedAt !== null && clock.now() - triedAt < dayMs) continue;
    try {
      const models = await updates.updateUnasked(source);
      if (models > 0) updated({ source: source.name, models });
    } catch (error) {
      failed(error, source.name);
    }
  }
}

/** The result ends it. */
export const updatePricesDaily = (
  ports: DailyPriceUpdatePorts,
  options: DailyPriceUpdateOptions,
): (() => Promise<void>) => atIntervals(options.everyMs, () => fetchDue(ports, options));
