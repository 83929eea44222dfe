import { type Usage, used } from '../../call/usage.js';
import type { Price } from '../pricing.js';

/* Prices and usages as earlier releases wrote them, and as they read now. What they were charged stays what it was. */

export interface EarlierTokenPrice {
  readonly per: 'token';
  readonly model: string;
  readonly completion: string;
  readonly cache: string;
  readonly cacheWrite: string;
  readonly image: string;
  readonly reasoning: string;
  readonly group: string;
}

/** `prompt` includes `cached`, `cacheWrite` and `image`; `completion` includes `reasoning`. */
export interface EarlierUsage {
  readonly prompt: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly image: number;
  readonly completion: number;
  readonly reasoning: number;
}

export function namedPrice(price: Price | EarlierTokenPrice): Price {
  if (price.per === 'call' || 'ratios' in price) return price;
  const { model, completion: output, cache: cachedInput, cacheWrite, image: imageInput, reasoning, group } = price;
  return { per: 'token', model, ratios: { output, cachedInput, cacheWrite, imageInput, reasoning }, group };
}

export function namedUsage({ prompt, cached, cacheWrite, image, completion, reasoning }: EarlierUsage): Usage {
  // Parts that exceed their whole were charged as what they were, and cost nothing where the whole was nothing.
  if (prompt + completion === 0) return {};
  return used({
    input: prompt - cached - cacheWrite - image,
    cachedInput: cached,
    cacheWrite,
    imageInput: image,
    output: completion - reasoning,
    reasoning,
  });
}
