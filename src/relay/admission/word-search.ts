/*
 * Looks for many words at once and reads a text once whatever the words are (Aho and Corasick, 1975). The automaton is
 * a table of integers: a step is a look or two at it, and a text can be read in slices, each of which goes on where the
 * one before ended.
 */

const codes = 0x10000;
const start = 0;
/** A state beyond which nothing is looked for: a word has been found. */
export const found = -1;

/** By state and character, in open addressing: maps of this many numbers take ten times as long to look at. */
class Edges {
  private readonly keys: Float64Array;
  private readonly targets: Int32Array;
  private readonly mask: number;

  /** `max`: edges at most. Half of the places stay empty. */
  constructor(max: number) {
    const capacity = 2 ** Math.ceil(Math.log2(Math.max(max, 8) * 2));
    this.keys = new Float64Array(capacity).fill(-1);
    this.targets = new Int32Array(capacity);
    this.mask = capacity - 1;
  }

  /** -1: there is none. */
  get(from: number, code: number): number {
    const key = from * codes + code;
    for (let at = this.first(from, code); ; at = (at + 1) & this.mask) {
      const known = this.keys[at];
      if (known === key) return this.targets[at] ?? -1;
      if (known === -1) return -1;
    }
  }

  set(from: number, code: number, to: number): void {
    let at = this.first(from, code);
    while (this.keys[at] !== -1) at = (at + 1) & this.mask;
    this.keys[at] = from * codes + code;
    this.targets[at] = to;
  }

  private first(from: number, code: number): number {
    const mixed = Math.imul(from, 0x9e3779b1) ^ Math.imul(code, 0x85ebca6b);
    return (mixed ^ (mixed >>> 15)) & this.mask;
  }
}

export class WordSearch {
  private readonly edges: Edges;
  /** From the start, by character: where it leads, mostly back. */
  private readonly begins = new Int32Array(codes);
  /** By state: the longest other beginning of a word that what was read ends with. */
  private readonly otherwise: Int32Array;
  /** By state: a word ends here. */
  private readonly ends: Uint8Array;

  /** Words that are empty are in no text. */
  constructor(words: readonly string[]) {
    const states = 1 + words.reduce((sum, word) => sum + word.length, 0);
    this.edges = new Edges(states);
    this.otherwise = new Int32Array(states);
    this.ends = new Uint8Array(states);
    this.link(this.learn(words));
  }

  /** The state after `text`, read from `state` on; `found` once it holds a word. The first state is 0. */
  read(text: string, from = start, begin = 0, end = text.length): number {
    let state = from;
    for (let at = begin; at < end && state !== found; at++) {
      state = this.after(state, text.charCodeAt(at));
      if (this.ends[state] === 1) state = found;
    }
    return state;
  }

  /** The edges, those nearer to the start first: from, character, to. */
  private learn(words: readonly string[]): (readonly [number, number, number])[] {
    const byDepth: (readonly [number, number, number])[][] = [];
    let states = 1;
    for (const word of words) {
      let from = start;
      for (let depth = 0; depth < word.length; depth++) {
        const code = word.charCodeAt(depth);
        let to = from === start ? (this.begins[code] ?? start) : this.edges.get(from, code);
        if (to <= start) {
          to = states++;
          if (from === start) this.begins[code] = to;
          else this.edges.set(from, code, to);
          byDepth[depth] ??= [];
          byDepth[depth]?.push([from, code, to]);
        }
        from = to;
      }
      if (from !== start) this.ends[from] = 1;
    }
    return byDepth.flat();
  }

  /** What a longer beginning falls back to follows from the shorter ones. */
  private link(edges: readonly (readonly [number, number, number])[]): void {
    for (const [from, code, to] of edges) {
      const shorter = from === start ? start : this.after(this.otherwise[from] ?? start, code);
      this.otherwise[to] = shorter;
      if (this.ends[shorter] === 1) this.ends[to] = 1;
    }
  }

  private after(from: number, code: number): number {
    for (let state = from; state !== start; state = this.otherwise[state] ?? start) {
      const to = this.edges.get(state, code);
      if (to > start) return to;
    }
    return this.begins[code] ?? start;
  }
}
