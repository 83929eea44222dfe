import type { ModelPrice, PicturePrice } from '../records/model-price.js';

/*
 * Public prices of models that are sold by the picture: https://developers.openai.com/api/docs/pricing and
 * https://docs.x.ai/developers/models. What has no public price is not in this table and is refused until it is priced.
 */

interface SoldByPicture {
  /** Between spaces. */
  readonly names: string;
  /** USD: of any picture, or by what was ordered. */
  readonly usd: string | readonly PicturePrice[];
}

const sold: readonly SoldByPicture[] = [
  {
    names: 'dall-e-2',
    usd: [
      { size: '256x256', usd: '0.016' },
      { size: '512x512', usd: '0.018' },
      { size: '1024x1024', usd: '0.02' },
    ],
  },
  { names: 'grok-2-image', usd: '0.07' },
  { names: 'grok-imagine-image grok-imagine-image-2026-03-02', usd: '0.02' },
  {
    names: 'grok-imagine-image-quality grok-imagine-image-quality-20260403 grok-imagine-image-quality-latest',
    usd: '0.05',
  },
  // Dearer in its larger resolution, which all sizes but these may have.
  {
    names: 'grok-imagine-image-pro',
    usd: [{ usd: '0.07' }, { size: '1024x1024', usd: '0.05' }],
  },
];

const recordOf = ({ usd }: SoldByPicture): ModelPrice =>
  typeof usd === 'string' ? { pieces: { images: usd } } : { pictures: usd };

/** By model. */
export const builtInPicturePrices: ReadonlyMap<string, ModelPrice> = new Map(
  sold.flatMap((price) => price.names.split(' ').map((name) => [name, recordOf(price)] as const)),
);
