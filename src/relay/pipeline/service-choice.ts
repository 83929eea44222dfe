import type { Settings } from '../../application/options/settings.js';
import { textModes } from '../../domain/channel/provider.js';
import { serviceFactorsOf } from '../../domain/pricing/price-tables.js';
import { pricedTier, pricedTiers, type ServiceTerms, serviceTermsOf } from '../../domain/pricing/service-tiers.js';
import type { Endpoint } from '../contracts/endpoint.js';
import { RelayError } from '../contracts/errors.js';
import { type JsonObject, textIn } from '../json/json.js';

/* Which tier of service a call may ask for, and what it costs. */

interface ServiceChoice {
  /** By the names under which they are priced. */
  readonly tiers: readonly string[];
  /** null: it is served and charged as usual. */
  readonly terms: ServiceTerms | null;
}

const asUsual: ServiceChoice = { tiers: [], terms: null };

/** Never more expensive than the usual tier, so it may be asked for without a price, and costs what that does. */
const cheaperTier = 'flex';

const refused = (param: string, model: string, priced: readonly string[]): RelayError => {
  const allowed = priced.length === 0 ? 'none' : priced.join(', ');
  return new RelayError(
    400,
    'invalid_request',
    `invalid request: ${param} asks for a tier of service that has no price for model ${model}; tiers with a price: ${allowed}`,
    { type: 'invalid_request_error', param },
  );
};

/** Throws RelayError: a tier is asked for that has no price. `model`: as billed. */
export function chooseService(
  { mode, dialect }: Pick<Endpoint, 'mode' | 'dialect'>,
  body: JsonObject,
  model: string,
  { prices }: Pick<Settings, 'prices'>,
): ServiceChoice {
  if (!textModes.has(mode)) return asUsual;
  const asked = dialect.serviceAsked(body);
  const factors = serviceFactorsOf(prices, model);
  const tiers: string[] = [];
  for (const { param, tier } of asked.tiers) {
    const name = textIn(tier)?.toLowerCase() ?? '';
    const priced = pricedTier(factors, name);
    if (priced !== null && !tiers.includes(priced)) tiers.push(priced);
    else if (priced === null && name !== cheaperTier) throw refused(param, model, pricedTiers(factors));
  }
  const terms = serviceTermsOf(factors, tiers, asked.leftToAccount);
  return terms === null && tiers.length === 0 ? asUsual : { tiers, terms };
}
