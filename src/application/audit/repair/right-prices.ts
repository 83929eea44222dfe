import { beginning, latestOf } from '../../../domain/events/events.js';
import type { Moment } from '../../../domain/events/moment.js';
import { bytesIn } from '../../../domain/kernel/bounds.js';
import { invalidField } from '../../../domain/kernel/failure.js';
import type { OtherPrices } from '../../../domain/pricing/other-price.js';
import { groupRatioOf, type PriceTables, type RatioTable } from '../../../domain/pricing/price-tables.js';
import type { PricePeriods } from '../../../domain/pricing/records/model-price.js';
import type { PriceRecords } from '../../../domain/pricing/records/price-records.js';
import { statedPrice } from '../../../domain/pricing/records/tabled-price.js';
import type { RightPriceOrigin, RightPrices } from '../../../domain/repair/repair.js';
import type { ReadModels } from '../../../projections/database.js';
import { tablesAt } from '../price-at.js';

/* The right prices of a repair: as they are looked up, and what of them is kept. */

/** In the event of the order. */
const maxKeptBytes = 256 * 1024;

interface PriceSource {
  readonly origin: RightPriceOrigin;
  readonly quotaPerUnit: string;
  /** null: it says nothing of this model, which costs what it did. */
  periodsOf(model: string): PricePeriods | null;
  /** null: nothing of this group. */
  ratioOf(group: string): string | null;
}

/** Of a price table in a file, and ratios of groups that somebody has written down. */
export const pricesInFile = (
  name: string,
  records: PriceRecords,
  groupRatio: RatioTable,
  quotaPerUnit: string,
): PriceSource => ({
  origin: { kind: 'file', name },
  quotaPerUnit,
  periodsOf: (model) => records.get(model) ?? null,
  ratioOf: (group) => groupRatio.get(group) ?? null,
});

/** As prices were at that moment, for calls of any time. */
export async function pricesHeld(db: ReadModels, moment: Moment): Promise<PriceSource> {
  const { prices, options, records, at } = await tablesAt(db, moment);
  const last = latestOf([...options, ...records].map(({ position }) => position));
  return {
    origin: { kind: 'held', position: Number(last > beginning ? last : beginning), at },
    quotaPerUnit: prices.quotaPerUnit,
    periodsOf: (model) => periodsIn(prices, model),
    ratioOf: (group) => groupRatioOf(prices, group),
  };
}

function periodsIn(prices: PriceTables, model: string): PricePeriods | null {
  const price = statedPrice(prices, model);
  if (price === null) return null;
  // It is right for all calls that are looked at, whenever it began and ended.
  const { from: _, until: __, ...always } = price;
  return [always];
}

/** Looked up once, and kept: what was asked for is what the repair needs of them. */
export class LookedUpPrices implements OtherPrices {
  private readonly found = new Map<string, PricePeriods | null>();
  private readonly ratios = new Map<string, string | null>();

  constructor(private readonly source: PriceSource) {}

  get quotaPerUnit(): string {
    return this.source.quotaPerUnit;
  }

  readonly records = {
    get: (model: string): PricePeriods | undefined => {
      let periods = this.found.get(model);
      if (periods === undefined) {
        periods = this.source.periodsOf(model);
        this.found.set(model, periods);
      }
      return periods ?? undefined;
    },
    has: (model: string): boolean => this.records.get(model) !== undefined,
  };

  readonly groupRatio = {
    get: (group: string): string | undefined => {
      let ratio = this.ratios.get(group);
      if (ratio === undefined) {
        ratio = this.source.ratioOf(group);
        this.ratios.set(group, ratio);
      }
      return ratio ?? undefined;
    },
    has: (group: string): boolean => this.groupRatio.get(group) !== undefined,
  };

  /** Sorted, so that the same is the same text. Throws `invalid-field` where it is more than an event may hold. */
  kept(): RightPrices {
    const { origin, quotaPerUnit } = this.source;
    const right = { origin, records: sorted(this.found), groupRatio: sorted(this.ratios), quotaPerUnit };
    if (bytesIn(JSON.stringify(right)) > maxKeptBytes)
      throw invalidField(
        'model',
        `one model: the prices of all that were called do not fit into ${maxKeptBytes} bytes`,
      );
    return right;
  }
}

const sorted = <Value>(values: ReadonlyMap<string, Value | null>): Record<string, Value> =>
  Object.fromEntries(
    [...values]
      .flatMap(([name, value]): [string, Value][] => (value === null ? [] : [[name, value]]))
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
