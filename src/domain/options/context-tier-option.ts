import { invalidField } from '../kernel/failure.js';
import type { ContextTierFactors } from '../pricing/context-tiers.js';
import { isTokens, type Quantity, type TokenQuantity, tokenQuantities } from '../pricing/quantities.js';
import { maxCounted, maxRatio } from './option-table.js';

/*
 * The option ContextTiers: by model, from which length of the prompt on a whole call is priced anew, and by what its
 * prices are multiplied then.
 */

const maxTiers = 8;

const factorsAllowed = `a number from 0 to ${maxRatio} for one of ${tokenQuantities.join(', ')}`;

function tierIn(field: string, entry: unknown): ContextTierFactors {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw invalidField(field, 'an object such as {"over":200000,"input":2,"output":1.5}');
  const { over, ...rest } = entry as Readonly<Record<string, unknown>>;
  if (typeof over !== 'number' || !Number.isInteger(over) || over < 1 || over > maxCounted)
    throw invalidField(`${field}.over`, `an integer from 1 to ${maxCounted}`);
  const factors: Partial<Record<TokenQuantity, string>> = {};
  for (const [name, factor] of Object.entries(rest)) {
    const fits = typeof factor === 'number' && Number.isFinite(factor) && factor >= 0 && factor <= maxRatio;
    if (!fits || !isTokens(name as Quantity)) throw invalidField(`${field}.${name}`, factorsAllowed);
    factors[name as TokenQuantity] = String(factor);
  }
  return { over, factors };
}

/** Throws `invalid-field`, naming the tier that is wrong. */
export function readContextTiers(json: string): Map<string, readonly ContextTierFactors[]> {
  const byModel = JSON.parse(json) as Readonly<Record<string, unknown>>;
  return new Map(
    Object.entries(byModel).map(([model, list]) => {
      const field = `ContextTiers.${model}`;
      if (!Array.isArray(list) || list.length === 0 || list.length > maxTiers)
        throw invalidField(field, `an array of 1 to ${maxTiers} tiers`);
      const tiers = list.map((entry: unknown, index) => tierIn(`${field}[${index}]`, entry));
      tiers.forEach(({ over }, index) => {
        if (index > 0 && over <= (tiers[index - 1]?.over ?? 0))
          throw invalidField(`${field}[${index}].over`, 'more than over of the tier before');
      });
      return [model, tiers];
    }),
  );
}

/** As the option holds them. */
export const contextTiersText = (tiers: ReadonlyMap<string, readonly ContextTierFactors[]>): string =>
  JSON.stringify(
    Object.fromEntries(
      [...tiers].map(([model, list]) => [
        model,
        list.map(({ over, factors }) => ({
          over,
          ...Object.fromEntries(Object.entries(factors).map(([name, factor]) => [name, Number(factor)])),
        })),
      ]),
    ),
  );
