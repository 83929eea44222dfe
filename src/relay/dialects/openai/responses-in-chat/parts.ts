import { NotConvertible } from '../../../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../../json/json.js';

/* Parts of items in neutral words. */

const details: ReadonlySet<unknown> = new Set(['auto', 'low', 'high']);

function imagePart({ image_url: url, detail }: JsonObject, path: string): JsonObject {
  if (textIn(url) === null)
    throw new NotConvertible('caller', `${path}.image_url is required: an address or a data URL`);
  const known = details.has(detail) ? { detail } : (detail ?? null) === null ? {} : { detail: 'high' };
  return { type: 'image_url', image_url: { url, ...known } };
}

function filePart({ file_data: data, file_url: url, filename }: JsonObject, path: string): JsonObject {
  if (textIn(data) === null && textIn(url) === null)
    throw new NotConvertible('caller', `${path}: a file is to come as file_data or file_url`);
  const named = textIn(filename) === null ? {} : { filename };
  return { type: 'file', file: { ...named, ...(textIn(data) === null ? { file_url: url } : { file_data: data }) } };
}

function partOf(part: JsonObject, path: string): JsonObject {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
      return { type: 'text', text: textIn(part.text) ?? '' };
    case 'refusal':
      return { type: 'text', text: textIn(part.refusal) ?? '' };
    case 'input_image':
      return imagePart(part, path);
    case 'input_file':
      return filePart(part, path);
    case 'input_audio':
      return { type: 'input_audio', input_audio: part.input_audio };
    default:
      throw new NotConvertible(
        'caller',
        `${path}.type: ${(textIn(part.type) ?? 'this').slice(0, 100)} cannot be put to this channel, which has chat alone; allowed are input_text, input_image, input_file, output_text, refusal`,
      );
  }
}

const isText = ({ type }: JsonObject): boolean => type === 'text';

/** A text where there is but one. */
export const plainContent = (parts: readonly JsonObject[]): JsonValue => {
  const [first, ...others] = parts;
  if (first === undefined) return '';
  return others.length === 0 && isText(first) ? (first.text ?? '') : parts;
};

/** A text, or a list of parts; one part may stand for a list of one. Throws NotConvertible naming the part. */
export function partsOf(content: JsonValue | undefined, path: string): JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (isObject(content)) return [partOf(content, path)];
  return objectsIn(content).map((part, at) => partOf(part, `${path}[${at}]`));
}

/** The words of parts, where there is nothing but words; else null. */
export const textOf = (parts: readonly JsonObject[]): string | null =>
  parts.every(isText) ? parts.map(({ text }) => textIn(text) ?? '').join('\n') : null;
