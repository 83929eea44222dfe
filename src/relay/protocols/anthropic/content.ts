import { NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';

/* Parts of neutral messages as blocks of Anthropic's. */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

/** By how their bytes begin, in base64: what callers call a picture is not always what it is. */
const beginnings: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];
const pictures: readonly string[] = beginnings.map(([, type]) => type);

interface DataUrl {
  readonly type: string;
  readonly data: string;
}

/** null: it is none. */
function dataUrl(text: string): DataUrl | null {
  const comma = text.startsWith('data:') ? text.indexOf(',') : -1;
  if (comma === -1) return null;
  const head = text.slice('data:'.length, comma);
  const data = text.slice(comma + 1);
  const [type = ''] = head.split(';', 1);
  if (/;base64$/i.test(head)) return { type: type.toLowerCase(), data };
  try {
    return { type: type.toLowerCase(), data: Buffer.from(decodeURIComponent(data)).toString('base64') };
  } catch {
    return null;
  }
}

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);

/** Throws NotConvertible naming the place. */
export function imageSource(url: string, path: string): JsonObject {
  if (isAddress(url)) return { type: 'url', url };
  const { type, data } = dataUrl(url) ?? { type: '', data: url };
  const known = beginnings.find(([beginning]) => data.startsWith(beginning))?.[1] ?? type;
  if (!pictures.includes(known))
    throw refused(`${path}: a picture must be an address, or a data URL of ${pictures.join(', ')}`);
  return { type: 'base64', media_type: known, data };
}

const pdf = 'application/pdf';

function documentSource(file: JsonObject, path: string): JsonObject {
  const url = textIn(file.file_url) ?? textIn(file.file_data);
  if (url === null) throw refused(`${path}: a file is to come as file_data or file_url`);
  if (isAddress(url)) return { type: 'url', url };
  const { type, data } = dataUrl(url) ?? { type: pdf, data: url };
  if (type === pdf) return { type: 'base64', media_type: pdf, data };
  if (type.startsWith('text/'))
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString('utf8') };
  throw refused(`${path}: a file must be ${pdf} or a text`);
}

const cached = (part: JsonObject): JsonObject =>
  isObject(part.cache_control) ? { cache_control: part.cache_control } : {};

/** A text of nothing but blanks is refused. */
export const isBlank = (text: string): boolean => text.trim() === '';

/** null: nothing in it. */
function blockOf(part: JsonValue, path: string): JsonObject | null {
  if (typeof part === 'string') return isBlank(part) ? null : { type: 'text', text: part };
  if (!isObject(part)) throw refused(`${path}: a part must be an object`);
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const text = textIn(part.type === 'text' ? part.text : part.refusal);
      return text === null || isBlank(text) ? null : { type: 'text', text, ...cached(part) };
    }
    case 'image_url': {
      const url = textIn(isObject(part.image_url) ? part.image_url.url : part.image_url);
      if (url === null) throw refused(`${path}.image_url.url is required`);
      return { type: 'image', source: imageSource(url, path), ...cached(part) };
    }
    case 'file': {
      const file = isObject(part.file) ? part.file : part;
      const title = textIn(file.filename);
      const named = title === null ? {} : { title };
      return { type: 'document', source: documentSource(file, path), ...named, ...cached(part) };
    }
    default:
      throw refused(`${path}: this provider takes text, image_url and file, not ${textIn(part.type) ?? 'this'}`);
  }
}

/** Throws NotConvertible naming the part. */
export function blocksOf(content: JsonValue | undefined, path: string): JsonObject[] {
  const parts = isList(content) ? content : typeof content === 'string' ? [content] : [];
  const blocks: JsonObject[] = [];
  for (const [at, part] of parts.entries()) {
    const block = blockOf(part, `${path}[${at}]`);
    if (block !== null) blocks.push(block);
  }
  return blocks;
}
