import type { ServiceTierFactor } from '../application/prices/shown-prices.js';
import { decimal, decimalText, integer, times } from '../domain/kernel/decimal.js';
import { priceByPlainInput, pricesByTier } from '../domain/pricing/context-tiers.js';
import type { Price, TokenPrice } from '../domain/pricing/pricing.js';
import { isToolCalls, type PieceQuantity, type TokenQuantity, toolOf } from '../domain/pricing/quantities.js';
import { quantityRatio } from '../domain/pricing/rates.js';
import { audioRatiosOf } from './audio-chat.js';

/*
 * A price as the members of a list: those of the contract, and beside them what it has no member for. Whoever reads the
 * former alone sees what a usual call costs. Names are those of later gateways of the family, where they have one.
 */

type Members = Readonly<Record<string, unknown>>;

const perUsage = 0;
const perCall = 1;
const noUsage = {};

/** Each relative to an input token, left out where it costs what the plain tokens of its direction do. */
const ownRatios = {
  create_cache_ratio: 'cacheWrite',
  create_cache_1h_ratio: 'cacheWriteHour',
  image_ratio: 'imageInput',
  image_output_ratio: 'imageOutput',
  audio_output_ratio: 'audioOutput',
  cached_audio_ratio: 'cachedAudioInput',
  video_ratio: 'videoInput',
  video_output_ratio: 'videoOutput',
} as const satisfies Readonly<Record<string, TokenQuantity>>;

/** Sound that is put out, relative to sound that comes in: as older clients have it. */
function audioMembers(price: TokenPrice): Members {
  if (price.ratios.audioInput === undefined && price.ratios.audioOutput === undefined) return {};
  const { input, completion } = audioRatiosOf(price);
  return { audio_ratio: input, audio_completion_ratio: completion };
}

function ratioMembers(price: TokenPrice): Members {
  const own = Object.entries(ownRatios).flatMap(([member, name]) => {
    const ratio = price.ratios[name];
    return ratio === undefined ? [] : [[member, Number(ratio)] as const];
  });
  return {
    completion_ratio: Number(quantityRatio(price, 'output')),
    cache_ratio: Number(quantityRatio(price, 'cachedInput')),
    reasoning_ratio: Number(quantityRatio(price, 'reasoning')),
    ...Object.fromEntries(own),
    ...audioMembers(price),
  };
}

/** `over`: tokens of the prompt. A call with more of them costs this as a whole. */
const tierMembers = (price: TokenPrice): Members[] =>
  pricesByTier(price).map(({ over, price }) => {
    const inTier = priceByPlainInput(price, noUsage);
    return { over, model_ratio: Number(inTier.model), ...ratioMembers(inTier) };
  });

const thousand = integer(1_000);

/** USD: of a thousand uses of a tool, as the option has it, and of one of anything else. */
function pieceMembers({ pieces }: Price): Members {
  const tools: Record<string, number> = {};
  const others: Record<string, number> = {};
  for (const [name, dollars] of Object.entries(pieces?.dollars ?? {}) as [PieceQuantity, string][]) {
    if (isToolCalls(name)) tools[toolOf(name)] = Number(decimalText(times(decimal(dollars), thousand)));
    else others[name] = Number(dollars);
  }
  return {
    ...(Object.keys(tools).length === 0 ? {} : { tool_prices: tools }),
    ...(Object.keys(others).length === 0 ? {} : { piece_prices: others }),
  };
}

/** All of one price. */
export function priceMembers(price: Price): Members {
  if (price.per === 'call')
    return {
      quota_type: perCall,
      model_ratio: 0,
      model_price: Number(price.price),
      completion_ratio: 0,
      cache_ratio: 0,
      reasoning_ratio: 0,
      ...pieceMembers(price),
    };
  const usual = priceByPlainInput(price, noUsage);
  const tiers = tierMembers(price);
  return {
    quota_type: perUsage,
    model_ratio: Number(usual.model),
    model_price: 0,
    ...ratioMembers(usual),
    ...(tiers.length === 0 ? {} : { tiers }),
    ...pieceMembers(price),
  };
}

/** By tier, what all prices but those of tools are multiplied by. */
export const serviceTierMembers = (tiers: readonly ServiceTierFactor[]): Members =>
  tiers.length === 0
    ? {}
    : { service_tiers: Object.fromEntries(tiers.map(({ tier, factor }) => [tier, Number(factor)])) };
