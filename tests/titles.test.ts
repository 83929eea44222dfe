import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { faultOf, type TestTitle, titlesIn } from './support/test-titles.js';

const tests = fileURLToPath(new URL('.', import.meta.url));

const files = readdirSync(tests, { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({ path: relative(tests, path), text: readFileSync(path, 'utf8') }));

const titled = (...parts: string[]): TestTitle => ({ line: 1, parts });

describe('the check of titles', () => {
  test('reads titles with the suites they lie in, and leaves other calls alone', () => {
    const text = `
      describe('a code', () => {
        test.each([1, 2])('is refused %i times', () => { pool.test('nothing', () => {}); });
        describe(\`of \${user}\`, () => test('is spent once', () => {}));
      });
      test('the ledger is balanced', () => {});
      test.each([['with a letter', 'a'], ['without a digit', 'b']])('is refused %s', (_how, text) => text);`;
    expect(titlesIn('a.test.ts', text).map(({ parts }) => parts)).toEqual([
      ['a code', 'is refused %i times'],
      ['a code', 'of %s', 'is spent once'],
      ['the ledger is balanced'],
      ['is refused %s'],
      ['is refused with a letter'],
      ['is refused without a digit'],
    ]);
  });

  test.each([
    ['fewer than four words', titled('whole numbers')],
    ['fewer than four words', titled('usage', 'is summed')],
    ['no verb', titled('the channel of an attempt', 'by weight')],
    ['no subject', titled('it is asked again after a minute')],
    ['a word of our own', titled('a passkey', 'opens the door by itself')],
    ['a word of our own', titled('a recovery code', 'that was never given out is none')],
    ['a word of our own', titled('a caller who leaves', 'is told so by somebody')],
    ['a word of our own', titled('a price beyond its bound', 'is what a dearer call is held for')],
  ])('finds %s', (fault, title) => expect(faultOf(title)).toBe(fault));

  test('accepts a subject with its outcome, in one title or in a chain, and the names of a table of cases', () => {
    expect(faultOf(titled('a repeated redemption with the same idempotency key credits once'))).toBeNull();
    expect(faultOf(titled('a redemption code', 'is refused to everyone else'))).toBeNull();
    expect(faultOf(titled('an order', '%s'))).toBeNull();
  });
});

/** Tables of expectations, one line each. */
const tables = ['domain/models/known-facts.ts'];

describe('tests', () => {
  test('have titles that say subject and outcome by themselves', () => {
    const faults = files.flatMap(({ path, text }) =>
      titlesIn(path, text).flatMap((title) => {
        const fault = faultOf(title);
        return fault === null ? [] : [`${path}:${title.line}: ${fault}: ${title.parts.join(' > ')}`];
      }),
    );
    expect(faults).toEqual([]);
  });

  test('lie in files of at most 600 lines', () => {
    const long = files.filter(({ text }) => text.split('\n').length > 601).map(({ path }) => path);
    expect(long).toEqual(tables);
  });
});
