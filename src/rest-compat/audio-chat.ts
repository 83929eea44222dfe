import type { TokenPrice } from '../domain/pricing/pricing.js';
import { quantityRatio } from '../domain/pricing/rates.js';
import type { UsageLogEntry } from '../projections/models/usage-log/usage-log-queries.js';

/* Chats in sound, as the contract distinguishes them: sound that goes out is stated relative to sound that comes in. */

export const isAudioChat = ({ model, usage }: UsageLogEntry): boolean =>
  (usage.audioInput ?? 0) + (usage.audioOutput ?? 0) > 0 || model.startsWith('gpt-4o-audio');

export function audioRatiosOf(price: TokenPrice): { readonly input: number; readonly completion: number } {
  const input = Number(quantityRatio(price, 'audioInput'));
  const output = Number(quantityRatio(price, 'audioOutput'));
  // Twelve places are what ratios are kept to.
  return { input, completion: input === 0 ? 0 : Number((output / input).toFixed(12)) };
}
