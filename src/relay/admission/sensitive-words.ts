import { found, WordSearch } from './word-search.js';

/* Whether texts hold one of the words that an operator does not want in prompts, whatever the case of either. */

/** Characters read between two yields: some milliseconds of work where every one of them goes on with a word. */
export const sliceLength = 16 * 1024;

/** What a letter becomes depends on none beside it, so that texts can be read in slices: the sigma has two small forms. */
const folded = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ');

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** The last search: its words and, as settings are made anew with every option, the lists that held the same. */
let last: { readonly words: readonly string[]; readonly search: WordSearch } | null = null;
const known = new WeakMap<readonly string[], WordSearch>();

const areSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((word, at) => word === other[at]);

/** Built once for each list of words that differs from the one before. */
export function searchFor(words: readonly string[]): WordSearch {
  const searched = known.get(words);
  if (searched !== undefined) return searched;
  const search = last !== null && areSame(last.words, words) ? last.search : new WordSearch(words.map(folded));
  last = { words, search };
  known.set(words, search);
  return search;
}

/** Ends with whether one of the texts holds a word, or several one after the other, a line each. Yields between slices. */
export function* searchWords(texts: readonly string[], words: readonly string[]): Generator<void, boolean> {
  if (words.length === 0) return false;
  const search = searchFor(words);
  let state = 0;
  let sinceYield = 0;
  for (const [index, text] of texts.entries()) {
    if (index > 0) state = search.read('\n', state);
    for (let at = 0; at < text.length; ) {
      let end = Math.min(at + sliceLength, text.length);
      if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end++;
      state = search.read(folded(text.slice(at, end)), state);
      if (state === found) return true;
      sinceYield += end - at;
      at = end;
      if (sinceYield >= sliceLength) {
        sinceYield = 0;
        yield;
      }
    }
  }
  return state === found;
}
