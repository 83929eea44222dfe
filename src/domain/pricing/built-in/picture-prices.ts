import { decimal, decimalText, quotient } from '../../kernel/decimal.js';
import type { ModelPrice, PicturePrice } from '../records/model-price.js';

/*
 * Public prices of models that are sold by the picture, as of `builtInPricesDay`. Beside each stands the page or the list
 * that it was compared with; what only resellers name is not in this table. What has no public price is refused
 * until it is priced.
 */

interface SoldInDollars {
  /** Between spaces. */
  readonly names: string;
  /** Of any picture, or by what was ordered. */
  readonly usd: string | readonly PicturePrice[];
}

interface SoldInYuan {
  readonly names: string;
  /** Of any picture. */
  readonly cny: string;
}

type SoldByPicture = SoldInDollars | SoldInYuan;

/** As prices of tokens in CNY are taken, and as the option `Price` begins. */
const cnyOfDollar = decimal('7.3');

/** The smaller of xAI's two resolutions: no side of them is longer than 1536. */
const smallAtXai = ['256x256', '512x512', '1024x1024', '1024x1536', '1536x1024'] as const;

const atXai = (small: string, large: string, quality?: string): readonly PicturePrice[] => {
  const of = quality === undefined ? {} : { quality };
  return [{ ...of, usd: large }, ...smallAtXai.map((size) => ({ size, ...of, usd: small }))];
};

const sold: readonly SoldByPicture[] = [
  // By the pixel in https://github.com/BerriAI/litellm, model_prices_and_context_window.json; here for 1024 rounded up.
  {
    names: 'dall-e-2',
    usd: [
      { size: '256x256', usd: '0.016' },
      { size: '512x512', usd: '0.018' },
      { size: '1024x1024', usd: '0.02' },
    ],
  },
  // https://docs.x.ai/developers/pricing
  { names: 'grok-imagine-image grok-imagine-image-2026-03-02', usd: '0.02' },
  // https://docs.x.ai/developers/models/grok-imagine-image-2.0
  { names: 'grok-imagine-image-2.0', usd: [...atXai('0.04', '0.06', 'low'), ...atXai('0.06', '0.08', 'medium')] },
  // https://docs.x.ai/developers/migration/imagine-image-quality-nov-2: served and billed as the above in low quality.
  {
    names:
      'grok-imagine-image-quality grok-imagine-image-quality-20260403 grok-imagine-image-quality-latest ' +
      'grok-imagine-image-pro',
    usd: atXai('0.04', '0.06'),
  },
  // https://docs.bigmodel.cn/cn/guide/models/image-generation/cogview-4, and glm-image beside it. The last is
  // free of charge, as public repositories say that use it.
  { names: 'cogview-4 cogview-4-250304', cny: '0.06' },
  { names: 'glm-image', cny: '0.1' },
  { names: 'cogview-3-flash', cny: '0' },
  // https://www.volcengine.com/docs/82379/1544106, as several public repositories copy it.
  { names: 'doubao-seedream-4-0-250828', cny: '0.2' },
  { names: 'doubao-seedream-5-0-lite-260128 doubao-seedream-5-0-260128', cny: '0.22' },
  { names: 'doubao-seedream-4-5-251128', cny: '0.25' },
  { names: 'doubao-seedream-3-0-t2i-250415', cny: '0.259' },
  // https://help.aliyun.com/zh/model-studio/model-pricing: in mainland China; other regions are dearer.
  { names: 'wanx2.0-t2i-turbo', cny: '0.04' },
  { names: 'wanx2.1-t2i-turbo wan2.2-t2i-flash wanx2.1-imageedit', cny: '0.14' },
  { names: 'wanx-v1', cny: '0.16' },
  {
    names:
      'wanx2.1-t2i-plus wan2.2-t2i-plus wan2.5-t2i-preview wan2.5-i2i-preview wan2.6-t2i wan2.6-image wan2.7-image ' +
      'qwen-image-plus qwen-image-plus-2026-01-09 qwen-image-2.0 qwen-image-2.0-2026-03-03 qwen-image-edit-plus ' +
      'qwen-image-edit-plus-2025-10-30 qwen-image-edit-plus-2025-12-15',
    cny: '0.2',
  },
  { names: 'qwen-image', cny: '0.25' },
  { names: 'qwen-image-edit', cny: '0.3' },
  {
    names:
      'wan2.7-image-pro qwen-image-max qwen-image-max-2025-12-30 qwen-image-2.0-pro qwen-image-2.0-pro-2026-03-03 ' +
      'qwen-image-edit-max qwen-image-edit-max-2026-01-16',
    cny: '0.5',
  },
  // https://ai.google.dev/gemini-api/docs/pricing, and the same of Vertex AI in LiteLLM's list.
  { names: 'imagen-4.0-fast-generate-001', usd: '0.02' },
  { names: 'imagen-4.0-generate-001', usd: '0.04' },
  { names: 'imagen-4.0-ultra-generate-001', usd: '0.06' },
];

const dollars = (cny: string): string => decimalText(quotient(decimal(cny), cnyOfDollar, 6));

function recordOf(price: SoldByPicture): ModelPrice {
  if ('cny' in price) return { pieces: { images: dollars(price.cny) } };
  return typeof price.usd === 'string' ? { pieces: { images: price.usd } } : { pictures: price.usd };
}

/** By model. */
export const builtInPicturePrices: ReadonlyMap<string, ModelPrice> = new Map(
  sold.flatMap((price) => price.names.split(' ').map((name) => [name, recordOf(price)] as const)),
);
