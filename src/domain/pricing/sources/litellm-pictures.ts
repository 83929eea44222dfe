import { decimalText } from '../../kernel/decimal.js';
import type { PicturePrice } from '../records/model-price.js';
import { positiveIn } from './amounts.js';
import { isJsonObject, type Json } from './list-json.js';
import type { Listed } from './listing.js';
import { UnusableEntry } from './published-price.js';

/* In LiteLLM's map pictures by size and quality are models of their own: `high/1024-x-1024/gpt-image-1`. */

const pictureName = /^(?:(low|medium|high|standard|hd)\/)?(\d{2,5})-x-(\d{2,5})\/([^/]+)$/;

export const isPictureName = (name: string): boolean => pictureName.test(name);

interface Picture {
  readonly order: Omit<PicturePrice, 'usd'>;
  readonly entry: unknown;
}

const maxPictures = 64;

function picturePrice({ order, entry }: Picture): PicturePrice {
  if (!isJsonObject(entry)) throw new UnusableEntry('shape-invalid');
  const amount = positiveIn(entry, 'output_cost_per_image') ?? positiveIn(entry, 'input_cost_per_image');
  if (amount === null) throw new UnusableEntry('zero', 'input_cost_per_image');
  return { ...order, usd: decimalText(amount) };
}

/** Of models that have no entry beside those of their pictures. */
export function* picturePrices(value: Json): Iterable<Listed> {
  const pictures = new Map<string, Picture[]>();
  for (const [name, entry] of Object.entries(value)) {
    const [, quality, width, height, model = ''] = pictureName.exec(name) ?? [];
    if (model === '' || Object.hasOwn(value, model)) continue;
    const list = pictures.get(model) ?? [];
    list.push({ order: { size: `${width}x${height}`, ...(quality === undefined ? {} : { quality }) }, entry });
    pictures.set(model, list);
  }
  for (const [model, list] of pictures) {
    yield {
      model,
      read() {
        if (list.length > maxPictures) throw new UnusableEntry('shape-invalid');
        return { vendor: null, periods: [{ pictures: list.map(picturePrice) }] };
      },
    };
  }
}
