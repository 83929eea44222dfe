import { RandomBytes } from './random-bytes.js';

const alphanumerics = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

const random = new RandomBytes();

/** Unpredictable text of 0-9, a-z, A-Z, every character equally likely. */
export function randomText(length: number): string {
  let text = '';
  // Of 64 numbers two name no character; another is drawn.
  while (text.length < length) text += alphanumerics.charAt(random.next() & 63);
  return text;
}
