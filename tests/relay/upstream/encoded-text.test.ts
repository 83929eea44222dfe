import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { atOnce } from '../../../src/relay/text/large-work.js';
import { encodedFrom, encodedPieces } from '../../../src/relay/upstream/encoded-text.js';
import { leaving } from '../../../src/relay/upstream/leaving-body.js';

const texts = [0, 1, 2].map((before) => 'x'.repeat(before) + '😀账é'.repeat(encodedFrom));

test('a long text encoded piece by piece has the bytes of the whole, wherever surrogate pairs are cut', () => {
  for (const text of texts) {
    const pieces = atOnce(encodedPieces(text));
    expect(Buffer.concat(pieces).equals(Buffer.from(text))).toBe(true);
    expect(pieces.length).toBeGreaterThan(3);
    expect([...encodedPieces(text)]).toHaveLength(pieces.length);
  }
});

test('an encoded text is sent in pieces, with the total length announced', async () => {
  const [text = ''] = texts;
  const stream = leaving({ kind: 'json', text, encoded: atOnce(encodedPieces(text)) }) as Readable;
  expect(stream.readableLength).toBe(Buffer.byteLength(text));
  expect((await buffer(stream)).equals(Buffer.from(text))).toBe(true);
});
