import { createHmac } from 'node:crypto';

/*
 * Where long texts are looked at when they are counted. A text that says little just there would cost little, so nobody can
 * know the places beforehand: they follow from a secret of the gateway and from the text itself, and are the same for the
 * same text always, in every process.
 */

let secret: Buffer = Buffer.alloc(32);

/** Said once, at the start of a process. Without it the places are anybody's to work out. */
export function samplePositionsBy(key: Buffer): void {
  secret = key;
}

/** 32 bits that only who has the secret can know. */
export function seedOf(texts: readonly string[]): number {
  const hmac = createHmac('sha256', secret);
  for (const text of texts) hmac.update(text, 'utf8');
  return hmac.digest().readUInt32LE(0);
}

/** A whole number from 0 to `choices` − 1, for the `index`-th choice of a kind. */
export function chosen(seed: number, kind: number, index: number, choices: number): number {
  let mixed = (seed ^ Math.imul(kind + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  mixed = (mixed ^ (mixed >>> 16)) >>> 0;
  return Math.floor((mixed / 2 ** 32) * choices);
}
