import { randomFillSync } from 'node:crypto';

const alphanumerics = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Asked for in one go: asking for each number by itself costs ten times as much. */
const drawn = new Uint8Array(512);
let next = drawn.length;

function sixBits(): number {
  if (next === drawn.length) {
    randomFillSync(drawn);
    next = 0;
  }
  const byte = drawn[next] ?? 0;
  // Nobody is told the same chance twice, nor finds here what was.
  drawn[next++] = 0;
  return byte & 63;
}

/** Unpredictable text of 0-9, a-z, A-Z, every character equally likely. */
export function randomText(length: number): string {
  let text = '';
  // Of 64 numbers two name no character; another is drawn.
  while (text.length < length) text += alphanumerics.charAt(sixBits());
  return text;
}
