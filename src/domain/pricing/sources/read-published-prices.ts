import { genaiPrices, isGenaiPrices } from './genai-prices.js';
import { type ListJson, readListJson, type Steps, unreadable } from './list-json.js';
import { gathered, type Listed } from './listing.js';
import { isLitellm, litellmPrices } from './litellm.js';
import { isOpenRouter, openRouterPrices } from './openrouter.js';
import { type PublishedPrices, type ReadingTerms, type SourceForm, sourceForms } from './published-price.js';
import { isPricingList, isRatioConfig, pricingList, ratioConfig } from './ratio-lists.js';

interface Form {
  is(value: unknown): boolean;
  entries(json: ListJson, terms: ReadingTerms): Iterable<Listed>;
}

/** In the order in which they are tried: LiteLLM's has the least to be known by. */
const forms: Readonly<Record<SourceForm, Form>> = {
  'genai-prices': { is: isGenaiPrices, entries: genaiPrices },
  'openrouter-models': { is: isOpenRouter, entries: openRouterPrices },
  'ratio-config': { is: isRatioConfig, entries: ratioConfig },
  pricing: { is: isPricingList, entries: pricingList },
  litellm: { is: isLitellm, entries: litellmPrices },
};

/**
 * What a published price list says. Its form is found in its content; `expected`: it must be this one. Throws
 * `price-list-unreadable` with a `reason` for a text that is no such list as a whole; single models that cannot be
 * used are among `skipped`.
 */
export function* readPublishedPrices(
  text: string,
  terms: ReadingTerms,
  expected: SourceForm | null = null,
): Steps<PublishedPrices> {
  const json = yield* readListJson(text);
  const form = (Object.keys(forms) as SourceForm[]).find((name) => forms[name].is(json.value));
  if (form === undefined) throw unreadable(`it is in none of the known forms: ${sourceForms.join(', ')}`);
  if (expected !== null && form !== expected) throw unreadable(`it has the form ${form}, not ${expected}`);
  const prices = yield* gathered(form, forms[form].entries(json, terms), terms);
  if (prices.models.length === 0 && prices.skipped.length === 0) throw unreadable('it lists no models');
  return prices;
}
