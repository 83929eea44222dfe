import { invalidField } from './failure.js';

/*
 * Names that people recognise each other by. After Unicode's TR 39: nothing invisible, letters of one script (Chinese,
 * Japanese and Korean names may hold Latin ones), and a name that looks like another's counts as the same name.
 */

/** What takes no room, or turns the direction of writing: control and format characters, fillers, private ones. */
const invisible = /[\p{C}\p{Default_Ignorable_Code_Point}]/u;
/** Blanks that are not the one on the keyboard. */
const oddBlank = /[^\P{Z} ]/u;

const eastAsian = /^[\p{sc=Latin}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}]*$/u;
const scripts = [/^\p{sc=Latin}*$/u, /^\p{sc=Cyrillic}*$/u, /^\p{sc=Greek}*$/u, eastAsian] as const;
/** Digits, punctuation, accents: of no script. */
const shared = /[\p{sc=Common}\p{sc=Inherited}]/gu;
const known = /\p{sc=Latin}|\p{sc=Cyrillic}|\p{sc=Greek}/u;

/** Throws `invalid-field` for a name nobody could read back. */
export function checkLegible(field: string, name: string): void {
  if (name !== name.trim()) throw invalidField(field, 'text without spaces at its ends');
  if (invisible.test(name) || oddBlank.test(name)) throw invalidField(field, 'text without invisible characters');
  const letters = name.normalize('NFKC').replace(shared, '');
  // Scripts nobody could take for Latin, Greek or Cyrillic mix with none of them.
  if (!scripts.some((script) => script.test(letters)) && known.test(letters))
    throw invalidField(field, 'letters of one script');
}

/** Lower-case letters of other alphabets, and stray Latin ones, that look like those of ASCII. */
const twins: Readonly<Record<string, string>> = Object.fromEntries([
  ['а', 'a'],
  ['α', 'a'],
  ['ɑ', 'a'],
  ['ь', 'b'],
  ['β', 'b'],
  ['с', 'c'],
  ['ϲ', 'c'],
  ['ԁ', 'd'],
  ['е', 'e'],
  ['ε', 'e'],
  ['ѐ', 'e'],
  ['ё', 'e'],
  ['ɡ', 'g'],
  ['һ', 'h'],
  ['н', 'h'],
  ['і', 'i'],
  ['ї', 'i'],
  ['ι', 'i'],
  ['ı', 'i'],
  ['ɩ', 'i'],
  ['ј', 'j'],
  ['ϳ', 'j'],
  ['к', 'k'],
  ['κ', 'k'],
  ['ӏ', 'l'],
  ['м', 'm'],
  ['μ', 'm'],
  ['п', 'n'],
  ['η', 'n'],
  ['о', 'o'],
  ['ο', 'o'],
  ['σ', 'o'],
  ['р', 'p'],
  ['ρ', 'p'],
  ['ԛ', 'q'],
  ['г', 'r'],
  ['ѕ', 's'],
  ['т', 't'],
  ['τ', 't'],
  ['υ', 'u'],
  ['ц', 'u'],
  ['ν', 'v'],
  ['ѵ', 'v'],
  ['ԝ', 'w'],
  ['ω', 'w'],
  ['ш', 'w'],
  ['х', 'x'],
  ['χ', 'x'],
  ['у', 'y'],
  ['γ', 'y'],
  ['ү', 'y'],
]);

/**
 * The name as it looks: the same for names that cannot be distinguished. An ordinary name of ASCII letters is its own
 * look, in lower case.
 */
export const lookOf = (name: string): string =>
  [...name.normalize('NFKC').toLowerCase()].map((character) => twins[character] ?? character).join('');
