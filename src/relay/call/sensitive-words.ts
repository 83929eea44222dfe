/*
 * Whether a text holds one of the words that an operator does not want in prompts. Looked for one after the other, a
 * thousand words would hold up everybody for seconds with a text of a megabyte; so all of them are looked for at once,
 * and a text is read once whatever the words are (Aho and Corasick, 1975).
 */

const codes = 0x10000;

class WordSearch {
  /** By state and next character; state 0 is the beginning of any word. */
  private readonly next = new Map<number, number>();
  /** By state: the longest other beginning of a word that what was read ends with. */
  private readonly otherwise = [0];
  /** By state: a word ends here. */
  private readonly found = [false];
  /** By character: a word begins with it. Hardly one of a text does, and a look at the map costs ten times as much. */
  private readonly begins = new Uint8Array(codes);

  constructor(words: readonly string[]) {
    const edges = words.flatMap((word) => this.learn(word));
    // The shorter beginnings first: those of the longer ones follow from them.
    for (const { from, code, to } of edges.sort((one, other) => one.depth - other.depth)) {
      const shorter = from === 0 ? 0 : this.after(this.otherwise[from] ?? 0, code);
      this.otherwise[to] = shorter;
      if (this.found[shorter]) this.found[to] = true;
    }
  }

  isIn(text: string): boolean {
    let state = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (state === 0 && this.begins[code] === 0) continue;
      state = this.after(state, code);
      if (this.found[state]) return true;
    }
    return false;
  }

  /** The steps that no word before has had. */
  private learn(word: string): { depth: number; from: number; code: number; to: number }[] {
    const steps: { depth: number; from: number; code: number; to: number }[] = [];
    let from = 0;
    if (word !== '') this.begins[word.charCodeAt(0)] = 1;
    for (let depth = 0; depth < word.length; depth++) {
      const code = word.charCodeAt(depth);
      let to = this.next.get(from * codes + code);
      if (to === undefined) {
        to = this.otherwise.push(0) - 1;
        this.found.push(false);
        this.next.set(from * codes + code, to);
        steps.push({ depth, from, code, to });
      }
      from = to;
    }
    if (from !== 0) this.found[from] = true;
    return steps;
  }

  private after(from: number, code: number): number {
    for (let state = from; ; state = this.otherwise[state] ?? 0) {
      const to = this.next.get(state * codes + code);
      if (to !== undefined) return to;
      if (state === 0) return 0;
    }
  }
}

/** By the list of the settings, which is one object for as long as they stay as they are. */
const searches = new WeakMap<readonly string[], WordSearch>();

/** All in lower case. */
export function holdsWord(text: string, words: readonly string[]): boolean {
  if (words.length === 0) return false;
  let search = searches.get(words);
  if (search === undefined) {
    search = new WordSearch(words);
    searches.set(words, search);
  }
  return search.isIn(text);
}
