import type { ModelPrice, PicturePrice } from '../records/model-price.js';

/*
 * Public prices of models that are sold by the picture: https://developers.openai.com/api/docs/pricing,
 * https://docs.x.ai/developers/models, and further pages beside their models. Prices in CNY are taken at seven to the
 * dollar. What has no public price is not in this table and is refused until it is priced.
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
  // https://open.bigmodel.cn/pricing: 0.06 and 0.1 CNY; the last is free of charge.
  { names: 'cogview-4 cogview-4-250304', usd: '0.0086' },
  { names: 'glm-image', usd: '0.0143' },
  { names: 'cogview-3-flash', usd: '0' },
  // https://www.volcengine.com/docs/82379/1544106: 0.2, 0.25 and 0.259 CNY.
  { names: 'doubao-seedream-4-0-250828', usd: '0.0286' },
  { names: 'doubao-seedream-4-5-251128', usd: '0.0358' },
  { names: 'doubao-seedream-3-0-t2i-250415', usd: '0.037' },
  // https://help.aliyun.com/zh/model-studio/model-pricing: 0.16, 0.14, 0.2, 0.25, 0.5 and 0.3 CNY.
  { names: 'wanx-v1', usd: '0.0229' },
  { names: 'wanx2.1-t2i-turbo wan2.2-t2i-flash', usd: '0.02' },
  { names: 'wanx2.1-t2i-plus wan2.2-t2i-plus wan2.5-t2i-preview wan2.5-i2i-preview wan2.6-t2i', usd: '0.0286' },
  { names: 'qwen-image-plus qwen-image-edit-plus', usd: '0.0286' },
  { names: 'qwen-image', usd: '0.0358' },
  { names: 'qwen-image-max', usd: '0.0715' },
  { names: 'qwen-image-edit', usd: '0.0429' },
  // https://ai.google.dev/gemini-api/docs/pricing
  { names: 'imagen-4.0-generate-001', usd: '0.04' },
  { names: 'imagen-4.0-ultra-generate-001', usd: '0.06' },
  { names: 'imagen-4.0-fast-generate-001', usd: '0.02' },
];

const recordOf = ({ usd }: SoldByPicture): ModelPrice =>
  typeof usd === 'string' ? { pieces: { images: usd } } : { pictures: usd };

/** By model. */
export const builtInPicturePrices: ReadonlyMap<string, ModelPrice> = new Map(
  sold.flatMap((price) => price.names.split(' ').map((name) => [name, recordOf(price)] as const)),
);
