import { type ImageEditRequest, maskField } from '../contracts/image-request.js';
import { type CallerRequest, NotConvertible, type RequestOptions } from '../contracts/protocol.js';
import type { FormFile } from '../upstream/request-content.js';

/* Pictures to go by, for wires that have them in JSON, or in forms of their own. */

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

/** Of a form, named as `nameAt` says of each. Throws NotConvertible. */
export const sourceFiles = (
  sources: readonly string[],
  { pictures: fetched }: Pick<RequestOptions, 'pictures'>,
  nameAt: (at: number) => string,
): FormFile[] =>
  sources.map((source, at) => {
    const [head, inlineType] = /^data:([^;,]{1,64});base64,/i.exec(source.slice(0, 128)) ?? [];
    const { type, data } = fetched.get(source) ?? { type: inlineType, data: source.slice(head?.length ?? 0) };
    if (type === undefined)
      throw new NotConvertible('caller', `images[${at}] must be a picture, or its http(s) address`);
    const name = nameAt(at);
    return { name, fileName: name, type, bytes: Buffer.from(data, 'base64') };
  });
