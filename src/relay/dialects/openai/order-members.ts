import { urlIn } from '../../../domain/kernel/address.js';
import type { InvalidMember } from '../../contracts/caller-dialect.js';
import type { JsonObject, JsonValue } from '../../json/json.js';
import { pictureType } from '../../metering/picture-type.js';

/* Members of an order for pictures or videos: of JSON, or fields of a form. */

export const maxSentPicture = 20 * 1024 * 1024;
const maxAddress = 2_048;
export const pictureTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp']);

/** A member of an order that cannot be taken. */
export class Unfit extends Error {
  constructor(
    readonly param: string,
    message: string,
  ) {
    super(message);
  }
}

export const isGiven = (value: JsonValue | undefined): value is JsonValue => (value ?? null) !== null && value !== '';

export function textAt(holder: JsonObject, name: string, max: number, path = name): string | null {
  const value = holder[name];
  if (!isGiven(value)) return null;
  if (typeof value !== 'string') throw new Unfit(path, `${path} must be a text, given once`);
  if (value.length > max) throw new Unfit(path, `${path} must be at most ${max} characters`);
  return value;
}

/** Fields of a form are texts. */
export function wholeAt(
  holder: JsonObject,
  name: string,
  [min, max]: readonly [number, number],
  path = name,
): number | null {
  const value = holder[name];
  if (!isGiven(value)) return null;
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return number;
  throw new Unfit(path, `${path} must be a whole number from ${min} to ${max}`);
}

const dataUrl = /^data:(image\/[a-z]{1,8});base64,(?=[A-Za-z0-9+/]+={0,2}$)/;

/** An upstream that is sent something else may take it for what it is. */
export function checkBytes(first: Buffer, declared: string, path: string): void {
  if (pictureType(first) !== declared)
    throw new Unfit(path, `${path} is declared as ${declared}, and its first bytes are not those of one`);
}

export function pictureText(text: string, path: string): string {
  if (text.startsWith('data:')) {
    if (text.length > Math.ceil(maxSentPicture / 3) * 4 + 64)
      throw new Unfit(path, `${path} must be a picture of at most ${maxSentPicture} bytes`);
    const [head = '', type = ''] = dataUrl.exec(text) ?? [];
    if (pictureTypes.has(type)) {
      checkBytes(Buffer.from(text.slice(head.length, head.length + 16), 'base64'), type, path);
      return text;
    }
  } else if (text.length <= maxAddress && /^https?:\/\//i.test(text) && urlIn(text) !== null) return text;
  throw new Unfit(
    path,
    `${path} must be an http(s) address of at most ${maxAddress} characters, or a data URL in base64 of ${[...pictureTypes].join(', ')}`,
  );
}

/** What is read, or which member cannot be. */
export function unfitOr<Read>(read: () => Read): Read | InvalidMember {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    return { param: error.param, message: error.message };
  }
}
