import type { ImageEditRequest, ImageRequest } from '../../contracts/image-request.js';
import { type CallerRequest, NotConvertible } from '../../contracts/protocol.js';
import { type JsonObject, memberNamesIn } from '../../json/json.js';
import { neutralAs } from '../request-builder.js';
import { sourcePictures } from '../source-pictures.js';

/* What is ordered of a vendor that takes pictures in words of its own. */

export interface ImageOrder {
  readonly request: ImageRequest;
  /** Pictures to go by, as addresses or data URLs in base64. */
  readonly sources: readonly string[];
  /** What of the first may be changed, as an address or a data URL. null: all of it. */
  readonly mask: string | null;
}

/** Throws NotConvertible. */
export function imageOrder(caller: CallerRequest): ImageOrder {
  if (caller.mode === 'image-generation')
    return { request: neutralAs(caller, 'image-generation'), sources: [], mask: null };
  const request: ImageEditRequest = neutralAs(caller, 'image-edit');
  const { images: sources, mask } = sourcePictures(request, caller);
  return { request, sources, mask };
}

/** Hints that nobody is promised anything by: who has no word for them leaves them out. */
const hints: ReadonlySet<string> = new Set(['quality', 'style', 'moderation', 'user', 'input_fidelity', 'complexity']);
const always: ReadonlySet<string> = new Set(['model', 'prompt', 'n', 'size', 'stream', 'response_format', 'images']);

/** What is the same as saying nothing. */
const isUsual = (name: string, value: unknown): boolean =>
  (name === 'background' && value !== 'transparent') || (name === 'partial_images' && value === 0);

/** `taken`: beside those that each takes. Throws NotConvertible: something else decides what is made. */
export function refuseFurther({ request, mask }: ImageOrder, taken: readonly string[]): void {
  const body: JsonObject = { ...request, ...(mask !== null && { mask }) };
  const other = memberNamesIn(body).find(
    (name) => !always.has(name) && !hints.has(name) && !taken.includes(name) && !isUsual(name, body[name]),
  );
  if (other !== undefined)
    throw new NotConvertible('caller', `${other}: this provider has no such choice for pictures; leave it out`);
}

/** Throws NotConvertible: more pictures than so many are wanted. */
export function refuseMore({ request: { n } }: ImageOrder, most: number): void {
  if (n > most)
    throw new NotConvertible(
      'caller',
      most === 1 ? 'n must be 1: this model makes one picture a call' : `n must be at most ${most} for this model`,
    );
}

/** Throws NotConvertible: there are more pictures to go by. */
export function refuseMoreSources({ sources }: ImageOrder, most: number): void {
  if (sources.length > most)
    throw new NotConvertible('caller', `image: this model takes ${most === 1 ? 'one picture' : `${most} pictures`}`);
}

/** Throws NotConvertible: there is a picture to go by. */
export function refuseSources({ sources }: ImageOrder): void {
  if (sources.length > 0)
    throw new NotConvertible('caller', 'image: this model makes pictures of a text, and changes none');
}

/** `1024x1024`; null: it is left to the model. */
export const sizeAsked = ({ request: { size } }: ImageOrder): string | null => (size === 'auto' ? null : size);

/** Width to height; null: it is left to the model. */
function ratioAsked(order: ImageOrder): number | null {
  const [width = 0, height = 0] = (sizeAsked(order) ?? '').split('x').map(Number);
  return width > 0 && height > 0 ? width / height : null;
}

/** Of `ratios`, such as `16:9`, the one that is nearest to the size that was asked for; null: that is left to the model. */
export function nearestRatio(ratios: readonly string[], order: ImageOrder): string | null {
  const asked = ratioAsked(order);
  if (asked === null) return null;
  const distance = (ratio: string): number => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(width / height / asked));
  };
  return ratios.reduce((nearest, ratio) => (distance(ratio) < distance(nearest) ? ratio : nearest));
}

/** Addresses of pictures to go by, where these must stand in the request. Throws NotConvertible. */
export function sourceAddresses(caller: CallerRequest): readonly string[] {
  const { sources, mask } = imageOrder(caller);
  return [...sources, ...(mask === null ? [] : [mask])].filter((source) => /^https?:\/\//i.test(source));
}

/** The picture itself is wanted, not where it is. Events have no place for an address. */
export const wantsInline = ({ neutral, stream }: Pick<CallerRequest, 'neutral' | 'stream'>): boolean =>
  stream || (neutral().body as Partial<ImageRequest>).response_format === 'b64_json';
