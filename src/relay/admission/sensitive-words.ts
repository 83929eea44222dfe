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

/** Reads texts piece by piece. */
interface Reading {
  /** Characters of earlier pieces that are read once more with each. */
  readonly readAgain: number;
  /** Whether a word has been found, in this piece or across those before it. */
  read(piece: string): boolean;
}

class ByAutomaton implements Reading {
  readonly readAgain = 0;
  private state = 0;

  constructor(private readonly search: WordSearch) {}

  read(piece: string): boolean {
    this.state = this.search.read(piece, this.state);
    return this.state === found;
  }
}

/** Up to so many words the engine's own search takes a tenth of the automaton's time. */
const fewWords = 4;

class OneByOne implements Reading {
  readonly readAgain: number;
  private readonly words: readonly string[];
  /** The end of what was read, in which a word may have begun. */
  private tail = '';

  constructor(words: readonly string[]) {
    this.words = words.map(folded).filter((word) => word !== '');
    this.readAgain = Math.max(1, ...this.words.map((word) => word.length)) - 1;
  }

  read(piece: string): boolean {
    const text = this.tail + piece;
    this.tail = this.readAgain === 0 ? '' : text.slice(-this.readAgain);
    return this.words.some((word) => text.includes(word));
  }
}

/** Ends with whether one of the texts holds a word, or several one after the other, a line each. Yields between slices. */
export function* searchWords(texts: readonly string[], words: readonly string[]): Generator<void, boolean> {
  if (words.length === 0) return false;
  const reading = words.length <= fewWords ? new OneByOne(words) : new ByAutomaton(searchFor(words));
  const { readAgain } = reading;
  let sinceYield = 0;
  for (const [index, text] of texts.entries()) {
    if (index > 0) {
      if (reading.read('\n')) return true;
      sinceYield += Math.max(1, readAgain);
    }
    let at = 0;
    // Once for an empty text too: many of them take as long as one that is long.
    do {
      let end = Math.min(at + sliceLength, text.length);
      if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end++;
      if (end > at) {
        if (reading.read(folded(text.slice(at, end)))) return true;
        sinceYield += Math.max(end - at, readAgain);
      }
      at = end;
      if (sinceYield >= sliceLength) {
        sinceYield = 0;
        yield;
      }
    } while (at < text.length);
  }
  return false;
}
