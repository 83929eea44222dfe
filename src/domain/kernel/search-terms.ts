/*
 * What a text is found by where the text itself may not be kept: the beginnings of its words. Each is stored as a keyed
 * hash, so only whoever has the key can ask for one. Words of scripts without spaces begin with every character.
 */

/** A single letter says little and is shared by many; a single ideograph is a name. */
const minTermLength = 2;
/** Anything longer is found by its first so many characters. */
const maxTermLength = 24;
/** Display names and addresses stay far below; what does not is found by its beginning. */
const maxTerms = 500;

const wordCharacter = /[\p{L}\p{N}]/u;
const standsAlone = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

const characters = (text: string): readonly string[] => [...text.normalize('NFKC').toLowerCase().trim()];

/** Each once. */
export function searchTermsOf(text: string): readonly string[] {
  const all = characters(text);
  const terms = new Set<string>();
  for (const [start, character] of all.entries()) {
    const alone = standsAlone.test(character);
    const begins = start === 0 || alone || (wordCharacter.test(character) && !wordCharacter.test(all[start - 1] ?? ''));
    if (!begins) continue;
    for (let length = alone ? 1 : minTermLength; length <= maxTermLength && start + length <= all.length; length++) {
      if (terms.size === maxTerms) return [...terms];
      terms.add(all.slice(start, start + length).join(''));
    }
  }
  return [...terms];
}

/** The term a keyword asks for; null: too short to ask for any. */
export function searchTermFor(keyword: string): string | null {
  const asked = characters(keyword).slice(0, maxTermLength);
  const [first = ''] = asked;
  return asked.length >= (standsAlone.test(first) ? 1 : minTermLength) ? asked.join('') : null;
}
