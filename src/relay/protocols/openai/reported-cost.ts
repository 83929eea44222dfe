import { add, type Decimal, decimal, decimalText, isDecimal, isNegative } from '../../../domain/kernel/decimal.js';
import { isCount, isObject, type JsonObject, type JsonValue } from '../../json/json.js';

/*
 * What vendors say that they charge for a call, beside its usage and in US dollars. It is written down for the operator.
 * Callers are not told: they pay by the operator's prices, and what the operator pays is not theirs to know.
 */

/** null: none is reported. */
export type ReportedCost = (usage: JsonObject) => string | null;

/** Members of a usage object that say what it cost, whoever reports them. */
const members = ['cost', 'cost_details', 'cost_in_usd_ticks', 'is_byok'];

/** The usage without what it cost upstream; the same object where it does not say. */
export function withoutCost(usage: JsonObject): JsonObject {
  if (!members.some((name) => name in usage)) return usage;
  return Object.fromEntries(Object.entries(usage).filter(([name]) => !members.includes(name)));
}

/** No call costs more, and more places are no money. */
const maxDollars = 1e6;
const maxPlaces = 20;

function dollars(value: JsonValue | undefined): Decimal | null {
  if (typeof value !== 'number' || !(value >= 0 && value <= maxDollars)) return null;
  const text = String(value);
  const amount = isDecimal(text) ? decimal(text) : null;
  return amount === null || isNegative(amount) || amount.scale > maxPlaces ? null : amount;
}

const textOf = (amount: Decimal | null): string | null => (amount === null ? null : decimalText(amount));

/**
 * With a key of the operator's own at the maker the router takes its fee, and the maker the rest.
 * https://openrouter.ai/docs/use-cases/usage-accounting
 */
export const openRouterCost: ReportedCost = ({ cost, cost_details: details, is_byok: ownKey }) => {
  const fee = dollars(cost);
  const rest = ownKey === true && isObject(details) ? dollars(details.upstream_inference_cost) : null;
  return textOf(fee === null || rest === null ? fee : add(fee, rest));
};

/** Ten thousand million ticks are a dollar: https://docs.x.ai/developers/cost-tracking. */
export const xaiCost: ReportedCost = ({ cost_in_usd_ticks: reported }) => {
  const ticks = isCount(reported) ? reported : null;
  return ticks === null || ticks > maxDollars * 1e10 ? null : decimalText({ digits: BigInt(ticks), scale: 10 });
};

/** https://docs.perplexity.ai/api-reference/chat-completions-post */
export const perplexityCost: ReportedCost = ({ cost }) => (isObject(cost) ? textOf(dollars(cost.total_cost)) : null);
