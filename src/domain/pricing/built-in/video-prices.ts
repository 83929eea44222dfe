import type { PieceQuantity } from '../quantities.js';
import type { ModelPrice } from '../records/model-price.js';

/*
 * Public prices of models that make video: USD of a second, by resolution. A second of a video with sound, where a model
 * has both. What has no public price is not in this table and is refused until an operator prices it.
 */

interface VideoPrice {
  /** Between spaces. */
  readonly names: string;
  /** At each resolution that has no price of its own here. Left out: other resolutions have no price. */
  readonly any?: string;
  readonly '720p'?: string;
  readonly '1080p'?: string;
  readonly '4k'?: string;
}

/**
 * Of OpenAI's price list, and of Google's for its public interface and its cloud, as of `builtInPricesDay`. What
 * `sora-2-pro` costs at 1024 and at 1080 lines is not the same, and lists name only one of them: it is left out.
 */
const videoPrices: readonly VideoPrice[] = [
  { names: 'sora-2 sora-2-2025-10-06 sora-2-2025-12-08', '720p': '0.1' },
  { names: 'sora-2-pro sora-2-pro-2025-10-06', '720p': '0.3' },
  { names: 'veo-3.1-generate-001 veo-3.1-generate-preview', any: '0.4', '4k': '0.6' },
  {
    names: 'veo-3.1-fast-generate-001 veo-3.1-fast-generate-preview',
    '720p': '0.1',
    '1080p': '0.12',
    '4k': '0.3',
  },
  { names: 'veo-3.1-lite-generate-001 veo-3.1-lite-generate-preview', '720p': '0.05', '1080p': '0.08' },
  { names: 'veo-3.0-generate-001', '720p': '0.4', '1080p': '0.4' },
  { names: 'veo-3.0-fast-generate-001', '720p': '0.1', '1080p': '0.12' },
  { names: 'veo-2.0-generate-001', '720p': '0.5' },
];

function recordOf({ names: _, any, ...resolutions }: VideoPrice): ModelPrice {
  const pieces: Partial<Record<PieceQuantity, string>> = any === undefined ? {} : { video: any };
  for (const [resolution, usd] of Object.entries(resolutions)) pieces[`video:${resolution}` as PieceQuantity] = usd;
  return { pieces };
}

/** By model. */
export const builtInVideoPrices: ReadonlyMap<string, ModelPrice> = new Map(
  videoPrices.flatMap((price) => price.names.split(' ').map((name) => [name, recordOf(price)] as const)),
);
