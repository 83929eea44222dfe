import { expect, test } from 'vitest';
import { BloomFilter } from '../../src/data-structures/bloom-filter.js';

const texts = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);

test('a Bloom filter has each text that was added, and about one in a hundred of the others by mistake', () => {
  const count = 20_000;
  const filter = new BloomFilter(2 * count);
  const unknown = texts('call', count).filter((text) => !filter.add(text));
  // Those that were taken for members at once are the error.
  expect(unknown.length).toBeGreaterThan(count * 0.98);
  expect(texts('call', count).every((text) => filter.add(text))).toBe(true);
  const strangers = texts('user', count).filter((text) => filter.add(text));
  expect(strangers.length).toBeLessThan(count * 0.02);
});

test('a Bloom filter that was made for too few texts has more of the others by mistake, and lacks none that was added', () => {
  const filter = new BloomFilter(0);
  for (const text of texts('call', 100_000)) filter.add(text);
  expect(texts('call', 100_000).every((text) => filter.add(text))).toBe(true);
});
