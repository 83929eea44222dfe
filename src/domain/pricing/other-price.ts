import type { Instant } from '../kernel/instant.js';
import { priceOfPictures } from './picture-prices.js';
import { billedName, noTables, type RatioTable, recordedPriceOf } from './price-tables.js';
import type { Price, PriceRates } from './pricing.js';
import { isToolCalls, type PieceQuantity } from './quantities.js';
import type { ModelPrice } from './records/model-price.js';
import { type PriceRecords, pricePeriodAt } from './records/price-records.js';
import { isPricedBy } from './records/recorded-price.js';
import { joinedFactor, type ServiceTerms } from './service-tiers.js';

/* What a call that was charged would have been charged by: other records, other ratios of groups, and else as it was. */

export interface OtherPrices {
  /** By model as billed. */
  readonly records: Pick<PriceRecords, 'get' | 'has'>;
  readonly groupRatio: Pick<RatioTable, 'get' | 'has'>;
  /** For a record that makes a price of tokens one that is not, or the reverse. */
  readonly quotaPerUnit: string;
}

interface ChargedCall {
  readonly model: string;
  readonly upstreamModel: string | null;
  readonly group: string;
  readonly at: Instant;
}

/** Calls of a tool that a record says nothing about cost what they did. */
function toolsOf(price: Price, record: ModelPrice): PriceRates<PieceQuantity> {
  const used = (Object.keys(price.pieces?.dollars ?? {}) as PieceQuantity[]).filter(isToolCalls);
  return Object.fromEntries(
    used.flatMap((name) => {
      const usd = record.pieces?.[name] ?? price.pieces?.dollars[name];
      return usd === undefined ? [] : [[name, usd]];
    }),
  );
}

function serviceBy(service: ServiceTerms, record: ModelPrice): ServiceTerms {
  const factor =
    record.serviceTiers === undefined ? null : joinedFactor(new Map(Object.entries(record.serviceTiers)), service.tier);
  return factor === null ? service : { ...service, factor };
}

/** The same object where the other prices say nothing of the call; null: by them, what was ordered has no price. */
export function otherPrice(price: Price, call: ChargedCall, others: OtherPrices): Price | null {
  const group = others.groupRatio.get(call.group) ?? price.group;
  const regrouped = group === price.group ? price : { ...price, group };
  const named = [billedName(call.model), ...(price.like === undefined ? [] : [price.like])];
  const name = named.find((one) => others.records.has(one));
  const record = name === undefined ? null : pricePeriodAt(others.records.get(name) ?? [], call.at);
  if (name === undefined || record === null || !isPricedBy(record)) return regrouped;
  const quotaPerUnit = (price.per === 'call' ? price.quotaPerUnit : price.pieces?.quotaPerUnit) ?? others.quotaPerUnit;
  const bare = recordedPriceOf(record, name, { group, quotaPerUnit });
  const served: Price = price.service === undefined ? bare : { ...bare, service: serviceBy(price.service, record) };
  const tools = toolsOf(price, record);
  const whole: Price =
    Object.keys(tools).length === 0
      ? served
      : { ...served, pieces: { dollars: { ...served.pieces?.dollars, ...tools }, quotaPerUnit } };
  const picture = price.pieces?.picture;
  if (picture === undefined) return whole;
  const names = new Set([call.model, ...(call.upstreamModel === null ? [] : [call.upstreamModel])]);
  const tables = { ...noTables, records: new Map([[name, record]]), quotaPerUnit };
  return priceOfPictures(whole, tables, { model: name, names }, picture);
}
