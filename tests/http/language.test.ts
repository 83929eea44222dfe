import { describe, expect, test } from 'vitest';
import { languageIn } from '../../src/http/language.js';

describe('the language of Accept-Language', () => {
  test.each([
    ['en', 'en'],
    ['zh-Hant-TW, en;q=0.9', 'zh'],
    ['EN-us', 'en'],
    ['zh;q=0.3, en;q=0.7', 'en'],
    ['fr, de;q=0.9, zh;q=0.1', 'zh'],
    ['en, zh', 'en'],
    ['en;q=0, zh;q=0.001', 'zh'],
    ['en;q=none', null],
    ['fr', null],
    ['*', null],
    ['', null],
    [undefined, null],
  ])('%j is %j', (header, language) => expect(languageIn(header)).toBe(language));

  test('is taken from its beginning only, however long it is', () =>
    expect(languageIn(`${'fr,'.repeat(50_000)}en`)).toBeNull());
});
