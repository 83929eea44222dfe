import type { OrderedPicture } from '../../domain/pricing/picture-prices.js';

/* What is asked for when pictures are to be made or changed, whichever words its caller has used. */

/** Everything that decides the cost is stated. Members that are left out were not asked for. */
export type ImageRequest = OrderedPicture & {
  /** As asked for. */
  readonly model: string;
  readonly prompt: string;
  /** Pictures. */
  readonly n: number;
  readonly stream: boolean;
  /** Pictures of each one that are sent while it is made: 0 to 3. */
  readonly partial_images: number;
  /** Left out: as the upstream gives them. */
  readonly response_format?: 'url' | 'b64_json';
  readonly style?: string;
  readonly background?: string;
  readonly output_format?: string;
  /** Percent. */
  readonly output_compression?: number;
  readonly moderation?: string;
  readonly input_fidelity?: 'high' | 'low';
  readonly complexity?: 'low' | 'medium' | 'high';
  readonly negative_prompt?: string;
  readonly seed?: number;
  readonly user?: string;
};

/** Pictures to go by stand here, as addresses or data URLs in base64, or are files of the form beside it. */
export type ImageEditRequest = ImageRequest & {
  readonly images?: readonly string[];
  /** What of the first picture may be changed. */
  readonly mask?: string;
};

/** By these names files of a form are pictures to go by; one by this name is the mask. */
export const pictureFields: ReadonlySet<string> = new Set(['image', 'image[]']);
export const maskField = 'mask';

/** What one that is sent while it is made counts. */
export const partialPictureTokens = 100;

/** Pictures of one call. */
export const maxImages = 10;
/** Pictures to go by. */
export const maxSourceImages = 16;
