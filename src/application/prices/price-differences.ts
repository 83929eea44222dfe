import { beginning, latestOf, type Position } from '../../domain/events/events.js';
import type { PriceChangeOrigin } from '../../domain/options/option.js';
import type { OptionKey } from '../../domain/options/option-table.js';
import type { PriceSourceSetting } from '../../domain/options/price-source-option.js';
import type { PriceTables } from '../../domain/pricing/price-tables.js';
import type { PricePeriods } from '../../domain/pricing/records/model-price.js';
import { type PriceDifferences, priceDifferences } from '../../domain/pricing/sources/price-differences.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { Clock } from '../ports/storage-ports.js';
import type { PriceReading } from './price-readings.js';
import { inSlices } from './price-source-fetch.js';

/* What a source says against what holds now, worked out once for each state of both. */

/** Options that prices stand in beside the records. */
const priceOptions = [
  ...(['ModelRatio', 'ModelPrice', 'CompletionRatio', 'CacheRatio', 'ReasoningRatio', 'ImageOutputRatio'] as const),
  ...(['ContextTiers', 'ServiceTiers', 'ToolPrice'] as const),
] satisfies readonly OptionKey[];

type PriceDirectory = Pick<
  NodeDirectory,
  'settings' | 'comingPrices' | 'changedPrices' | 'changedOptions' | 'optionText' | 'initialOptionText'
>;

interface DifferencePorts {
  readonly directory: PriceDirectory;
  readonly clock: Clock;
  /** By model, where its present record came from. */
  readonly origins: () => Promise<ReadonlyMap<string, PriceChangeOrigin>>;
  /** By model, the last record that was not applied by itself; null: it was taken out. */
  readonly approved: () => Promise<ReadonlyMap<string, PricePeriods | null>>;
}

export interface PresentDifferences extends PriceDifferences {
  /** Of the last change of prices that is among what was compared. */
  readonly seenAt: Position;
}

/** The last change of any price by a record or an option. */
function lastPriceChange({ changedPrices, changedOptions }: PriceDirectory): Position {
  const records = [...changedPrices().values()].map(({ position }) => position);
  const options = priceOptions.map((key) => changedOptions().get(key)?.position ?? beginning);
  return latestOf([...records, ...options]);
}

/** The option of prices that was changed after this position; null: none was. */
export const changedPriceOption = ({ changedOptions }: PriceDirectory, seenAt: Position): string | null =>
  priceOptions.find((key) => (changedOptions().get(key)?.position ?? beginning) > seenAt) ?? null;

const entriesIn = (text: string): ReadonlyMap<string, string> => {
  try {
    return new Map(Object.entries(JSON.parse(text) as object).map(([name, value]) => [name, JSON.stringify(value)]));
  } catch {
    return new Map();
  }
};

/** Models whose entries in the options are not the built-in ones. */
function namedInOptions({ changedOptions, optionText, initialOptionText }: PriceDirectory): Set<string> {
  const found = new Set<string>();
  for (const key of priceOptions) {
    if (key === 'ToolPrice' || !changedOptions().has(key)) continue;
    const initial = entriesIn(initialOptionText(key));
    for (const [model, value] of entriesIn(optionText(key))) if (initial.get(model) !== value) found.add(model);
  }
  return found;
}

export function differenceReader({ directory, clock, origins, approved: approvedRecords }: DifferencePorts) {
  /** By reading and the tables that it was compared with, which are made anew when a price changes. */
  const known = new WeakMap<PriceReading, { tables: PriceTables; differences: Promise<PresentDifferences> }>();

  const compare = async (
    source: PriceSourceSetting,
    { prices }: PriceReading,
    tables: PriceTables,
  ): Promise<PresentDifferences> => {
    const seenAt = lastPriceChange(directory);
    const coming = directory.comingPrices();
    const records = new Map<string, PricePeriods>();
    for (const [model, { periods }] of directory.changedPrices()) if (periods !== null) records.set(model, periods);
    const setByHand = namedInOptions(directory);
    const fromSource = new Set<string>();
    const [present, picked] = await Promise.all([origins(), approvedRecords()]);
    const approved = new Map<string, PricePeriods | null>();
    for (const [model, origin] of present) {
      if (!records.has(model)) continue;
      if (origin.kind === 'source' && origin.unasked === true) approved.set(model, picked.get(model) ?? null);
      if (origin.kind === 'source' && origin.name === source.name) fromSource.add(model);
      else setByHand.add(model);
    }
    for (const model of fromSource) setByHand.delete(model);
    const { margin, bound } = source;
    const differences = await inSlices(
      priceDifferences(prices, {
        ...{ tables, coming, records, at: clock.now(), margin, bound, fromSource, setByHand, approved },
      }),
    );
    return { ...differences, seenAt };
  };

  return async (source: PriceSourceSetting, reading: PriceReading): Promise<PresentDifferences> => {
    const { prices: tables } = directory.settings();
    const before = known.get(reading);
    if (before?.tables === tables) return before.differences;
    const differences = compare(source, reading, tables);
    known.set(reading, { tables, differences });
    differences.catch(() => known.delete(reading));
    return differences;
  };
}
