import { type ImageEditRequest, maskField } from '../contracts/image-request.js';
import type { CallerRequest } from '../contracts/protocol.js';
import type { FormFile } from '../upstream/request-content.js';

/* Pictures to go by, for wires that have them in JSON. */

interface SourcePictures {
  /** Addresses, or data URLs in base64. */
  readonly images: readonly string[];
  /** null: all of the picture may be changed. */
  readonly mask: string | null;
}

const dataUrl = ({ bytes, type }: FormFile): string =>
  `data:${type === 'image/jpg' ? 'image/jpeg' : type};base64,${bytes.toString('base64')}`;

/** Those of the order, and files that came with it. */
export function sourcePictures(
  { images = [], mask }: Pick<ImageEditRequest, 'images' | 'mask'>,
  { files }: Pick<CallerRequest, 'files'>,
): SourcePictures {
  const all = files ?? [];
  const masked = all.find(({ name }) => name === maskField);
  return {
    images: [...images, ...all.filter(({ name }) => name !== maskField).map(dataUrl)],
    mask: masked === undefined ? (mask ?? null) : dataUrl(masked),
  };
}
