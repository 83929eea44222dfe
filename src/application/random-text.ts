import { randomInt } from 'node:crypto';

const alphanumerics = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Unpredictable text of 0-9, a-z, A-Z, every character equally likely. */
export const randomText = (length: number): string =>
  Array.from({ length }, () => alphanumerics[randomInt(alphanumerics.length)]).join('');
