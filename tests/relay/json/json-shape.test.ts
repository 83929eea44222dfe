import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonShape } from '../../../src/relay/json/json-shape.js';

const limits = { depth: 5, parts: 40 };

const excessOf = (text: string, cutAt: readonly number[] = []) => {
  const bytes = Buffer.from(text);
  const shape = new JsonShape(limits);
  const cuts = [0, ...cutAt.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other), bytes.length];
  for (const [index, cut] of cuts.slice(0, -1).entries()) {
    const excess = shape.take(bytes.subarray(cut, cuts[index + 1]));
    if (excess !== null) return excess;
  }
  return null;
};

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

/** Lists and objects with their brackets, commas and colons. */
function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  const separators = Math.max(members.length - 1, 0) + (Array.isArray(value) ? 0 : members.length);
  return 1 + separators + members.reduce<number>((sum, member) => sum + partsOf(member), 0);
}

describe('the shape of a JSON text', () => {
  test.each([
    ['lists in lists', '[[[[[1]]]]]', '[[[[[[1]]]]]]', 'too-deep'],
    ['objects in objects', '{"a":{"a":{"a":{"a":{"a":1}}}}}', '{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}', 'too-deep'],
    ['many values', `[${'1,'.repeat(39)}1]`, `[${'1,'.repeat(40)}1]`, 'too-many-parts'],
    ['many names', `{${'"a":1,'.repeat(19)}"a":1}`, `{${'"a":1,'.repeat(20)}"a":1}`, 'too-many-parts'],
  ])('is known by its brackets and commas: %s', (_, within, beyond, excess) => {
    expect(excessOf(within)).toBeNull();
    expect(excessOf(beyond)).toBe(excess);
  });

  test('does not depend on strings, short or long, escaped or not', () => {
    for (const content of ['[[[[[[[', '\\"[[[[[[[', '\\\\', `${'x'.repeat(100)}\\"${'['.repeat(50)}`, ','.repeat(99)]) {
      expect(excessOf(`["${content}"]`)).toBeNull();
      expect(excessOf(`["${content}",[[[[[1]]]]]]`)).toBe('too-deep');
    }
  });

  test('is the same wherever the text is cut', () => {
    const pieces = fc.array(fc.nat(400), { maxLength: 12 });
    // Long strings with many quotes and backslashes in them are searched, not looked through.
    const strings = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom('"', '\\', 'x'.repeat(40), '[', ','), { maxLength: 30 }).map((parts) => parts.join('')),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 8 },
        strings,
        fc.array(tie('tree'), { maxLength: 5 }),
        fc.dictionary(strings, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, pieces, (value, cuts) => {
        const expected = depthOf(value) > limits.depth || partsOf(value) > limits.parts;
        expect(excessOf(JSON.stringify(value), cuts) !== null).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });
});
