import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLike } from '../../../src/domain/kernel/like.js';

const special = /[.*+?^${}()|[\]\\]/g;
const asExpression = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replace(special, '\\$&').replaceAll('%', '.*').replaceAll('_', '.')}$`, 'su');

describe('a text matches a LIKE pattern', () => {
  test('exactly when the equivalent regular expression matches', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\\', '%', '_', '😀'), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (said, asked) => {
        expect(isLike(said, asked)).toBe(asExpression(asked).test(said));
      }),
    );
  });
  test('and a mismatch costs no more than the product of both lengths', () => {
    // An expression that tries every way would never end.
    expect(isLike('a'.repeat(2_000), '%a'.repeat(100).concat('b'))).toBe(false);
  });
});
