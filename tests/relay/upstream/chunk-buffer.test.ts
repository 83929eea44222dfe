import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ChunkBuffer } from '../../../src/relay/upstream/chunk-buffer.js';

describe('a chunk buffer', () => {
  test('joins chunks to the same bytes, however they are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 3 }), { maxLength: 5000, size: 'max' }), (parts) => {
        const pieces = new ChunkBuffer();
        for (const part of parts) pieces.add(Buffer.from(part));
        const whole = Buffer.concat(parts);
        expect(pieces.length).toBe(whole.length);
        expect(pieces.take().equals(whole)).toBe(true);
        expect([pieces.length, pieces.take().length]).toEqual([0, 0]);
      }),
      { numRuns: 20 },
    );
  });

  test('takes little more memory than its length, even for tiny chunks', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const memory = (): number => {
      collect();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const length = 500_000;
    const source = Buffer.alloc(length, 'x');
    const pieces = new ChunkBuffer();
    const before = memory();
    for (let at = 0; at < length; at++) pieces.add(source.subarray(at, at + 1));
    expect(memory() - before).toBeLessThan(10 * length);
    expect(pieces.take().equals(source)).toBe(true);
  });
});
