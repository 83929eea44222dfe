import { invalidField } from '../kernel/failure.js';
import { isTierName, usualTier } from '../pricing/service-tiers.js';

/* The option ServiceTiers: by model, or the beginning of its name and `*`, by what its prices are multiplied at a tier. */

const maxTiers = 16;
/** Prices are products of factors; none of them makes a price that cannot be counted. */
const maxFactor = 1_000;

const tierAllowed = `a tier of lower case letters, digits, "_", "." and "-", other than ${usualTier}, and a number from 0 to ${maxFactor}`;

function factorsIn(field: string, entry: unknown): ReadonlyMap<string, string> {
  const tiers = typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? Object.entries(entry) : null;
  if (tiers === null || tiers.length > maxTiers)
    throw invalidField(field, `an object of at most ${maxTiers} tiers, such as {"flex":0.5,"priority":2}`);
  return new Map(
    tiers.map(([tier, factor]: [string, unknown]) => {
      const fits = typeof factor === 'number' && Number.isFinite(factor) && factor >= 0 && factor <= maxFactor;
      if (!fits || !isTierName(tier)) throw invalidField(`${field}.${tier}`, tierAllowed);
      return [tier, String(factor)];
    }),
  );
}

/** Throws `invalid-field`, naming the tier that is wrong. */
export function readServiceTiers(json: string): Map<string, ReadonlyMap<string, string>> {
  const byModel = JSON.parse(json) as Readonly<Record<string, unknown>>;
  return new Map(Object.entries(byModel).map(([model, entry]) => [model, factorsIn(`ServiceTiers.${model}`, entry)]));
}
