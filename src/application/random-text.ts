import { randomInt } from 'node:crypto';

const alphanumerics = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Unpredictable text of 0-9, a-z, A-Z, every character equally likely. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) text += alphanumerics[randomInt(alphanumerics.length)];
  return text;
}
