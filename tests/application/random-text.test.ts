import { expect, test } from 'vitest';
import { randomText } from '../../src/application/random-text.js';

test('a random text has the requested length, every alphanumeric with equal probability, and is never repeated', () => {
  const perCharacter = 1_000;
  const text = randomText(62 * perCharacter);
  expect(text).toMatch(/^[0-9a-zA-Z]{62000}$/);
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // Seven standard deviations: one run in ten thousand million has a character outside.
  for (const count of counts.values()) expect(Math.abs(count - perCharacter)).toBeLessThan(7 * Math.sqrt(perCharacter));
  expect(new Set(Array.from({ length: 10_000 }, () => randomText(12))).size).toBe(10_000);
});
