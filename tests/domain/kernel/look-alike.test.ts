import { describe, expect, test } from 'vitest';
import { lookOf } from '../../../src/domain/kernel/look-alike.js';
import { checkUsername } from '../../../src/domain/user/user-fields.js';
import { refusal } from '../../support/refusal.js';

describe('a user name', () => {
  test.each([
    ['a space before it', ' alice'],
    ['a space behind it', 'alice '],
    ['a wide space behind it', 'alice\u3000'],
    ['a zero-width space in it', 'al\u200bice'],
    ['a joiner in it', 'al\u200dice'],
    ['reversed text in it', 'al\u202eice'],
    ['an invisible filler', 'al\u3164ice'],
    ['a soft hyphen', 'al\u00adice'],
    ['an unusual space', 'al\u00a0ice'],
    ['a line break', 'al\nice'],
    ['Latin and Cyrillic letters', 'аlice'],
    ['Latin and Greek letters', 'αlice'],
    ['Cyrillic and Chinese letters', 'и爱丽丝'],
    ['half a character', 'al\ud800'],
  ])('is refused with %s', (_, name) =>
    expect(() => checkUsername(name)).toThrow(refusal('invalid-field', { field: 'username' })),
  );

  test.each([
    'alice',
    'Alice B',
    'alice_7',
    '爱丽丝',
    '爱丽丝Alice',
    'アリス',
    '앨리스',
    'алиса',
    'Αλίκη',
    'josé',
    'أليس',
    'a@b.example',
  ])('is accepted if it is %s', (name) => expect(() => checkUsername(name)).not.toThrow());
});

describe('the appearance of a name', () => {
  test.each([
    ['Alice', 'alice'],
    ['ＡＬＩＣＥ', 'alice'],
    ['асе', 'ace'],
    ['ѕсоре', 'scope'],
    ['爱丽丝', '爱丽丝'],
  ])('is the same for %s and %s', (name, look) => expect(lookOf(name)).toBe(look));
});
