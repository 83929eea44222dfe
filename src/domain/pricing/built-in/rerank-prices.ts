import type { ModelPrice } from '../records/model-price.js';

/* Public prices of models that rank documents and are sold by the search unit: https://cohere.com/pricing. */

/** Between spaces; at 2 USD for a thousand units. */
const names = 'rerank-v3.5 rerank-english-v3.0 rerank-multilingual-v3.0 rerank-english-v2.0 rerank-multilingual-v2.0';

/** By model. */
export const builtInRerankPrices: ReadonlyMap<string, ModelPrice> = new Map(
  names.split(' ').map((name) => [name, { pieces: { searchUnits: '0.002' } }] as const),
);
