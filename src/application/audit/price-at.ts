import { checkModel } from '../../domain/channel/channel-settings.js';
import type { Moment } from '../../domain/events/moment.js';
import { checkText } from '../../domain/kernel/bounds.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { Instant } from '../../domain/kernel/instant.js';
import { groupText } from '../../domain/kernel/names.js';
import { legacyPriceMaps } from '../../domain/options/legacy-prices.js';
import { billedName, priceOf } from '../../domain/pricing/price-tables.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { ReadModels } from '../../projections/database.js';
import { optionTextsAt } from '../../projections/models/option-history.js';
import { priceRecordsAt } from '../../projections/models/price-history.js';
import { lastMovedAt } from '../../projections/models/quota-history/quota-history-queries.js';
import { ChangedOptions } from '../memory/changed-options.js';
import { defaultPrices } from '../prices/default-prices.js';
import type { ChangePlace } from './as-of.js';

/* What a call of a model cost, as options and price table were. */

/** A change that was in force, of an option that prices are made of or of the model's record. */
export interface PriceSetting extends ChangePlace {
  /** The option; null: the record in the price table. */
  readonly option: string | null;
  readonly by: UserId | null;
}

export interface PriceAt {
  /** null: the model had no price. */
  readonly price: Price | null;
  /** In the order of the log. Empty: all of it is what this release begins with. */
  readonly settings: readonly PriceSetting[];
}

interface PriceAsked {
  readonly model: string;
  /** Empty: one whose ratio is 1. */
  readonly group: string;
}

const pricingOptions: ReadonlySet<string> = new Set([
  ...legacyPriceMaps,
  'ToolPrice',
  'GroupRatio',
  'QuotaPerUnit',
  'NearestFamilyPriceEnabled',
]);

/** Prices change by their dates as well, so a position stands for the time of what had happened by then. */
async function instantOf(db: ReadModels, moment: Moment, places: readonly ChangePlace[]): Promise<Instant> {
  if ('at' in moment) return moment.at;
  const moved = await lastMovedAt(db, moment.position);
  return Instant(Math.max(0, moved ?? 0, ...places.map(({ at }) => at)));
}

/** Options that prices are made of and records, as they were, and the tables that follow from them. */
export async function tablesAt(db: ReadModels, moment: Moment) {
  const options = (await optionTextsAt(db, moment)).filter(({ key }) => pricingOptions.has(key));
  const records = await priceRecordsAt(db, moment);
  const at = await instantOf(db, moment, [...options, ...records]);
  const changed = new Map(
    options.map(({ key, text, pinned, position }) => [
      key,
      {
        value: { text: text ?? '' },
        position,
        ...(pinned === null ? {} : { pinned: JSON.parse(pinned) as readonly string[] }),
      },
    ]),
  );
  const stated = new Map(records.map(({ model: of, periods, position }) => [of, { periods, position }]));
  const { prices } = new ChangedOptions(changed, stated, defaultPrices(at), at).settings();
  return { prices, options, records, at };
}

/** Throws `invalid-field`. */
export async function priceAt(db: ReadModels, { model, group }: PriceAsked, moment: Moment): Promise<PriceAt> {
  checkModel('model', model);
  checkText('group', group, groupText);
  const { prices, options, records } = await tablesAt(db, moment);
  const price = priceOf(prices, model, group, false);
  const record = records.find(({ model: of }) => of === billedName(price?.like ?? model));
  const settings = [
    ...options.map(({ key, position, at, by_user }) => ({ option: key, position, at, by: by_user })),
    ...(record === undefined ? [] : [{ option: null, position: record.position, at: record.at, by: record.by_user }]),
  ];
  return { price, settings: settings.sort((one, other) => (one.position < other.position ? -1 : 1)) };
}
