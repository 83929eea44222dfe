import { pick, type Random, randomOf } from '../odd-json.js';

/*
 * Answers that call functions, numbered, named and cut as upstreams do it, which is seldom as their wire has it. What they
 * mean is never in doubt: so it is known which calls the caller must get.
 */

export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export type Frame = Readonly<Record<string, unknown>>;

/** How a request asks its upstream to answer with calls. */
export const callsMark = (seed: number): string => `Hello. #calls${seed}#`;

/** null: it asks for no calls. */
export function seedOfCalls(body: string): number | null {
  const [, seed] = /#calls(\d+)#/.exec(body) ?? [];
  return seed === undefined ? null : Number(seed);
}

const inputs: readonly Call['input'][] = [
  {},
  { path: 'a.txt' },
  { path: 'b "quoted" {brace} \\', lines: [1, 2] },
  { text: 'é😀\u0000\n', deep: { list: [{}, [], null, true], number: -0.5 } },
];

export const callsOf = (random: Random): Call[] =>
  Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
    name: pick(random, ['read', 'write']),
    input: pick(random, inputs),
  }));

/** The calls that an upstream makes by such a mark. */
export const callsMeant = (seed: number): readonly Call[] => callsOf(randomOf(seed));

/** A text in one to four pieces; the first of them may be empty. */
export function cut(text: string, random: Random): string[] {
  const places = Array.from({ length: Math.floor(random() * 4) }, () => Math.floor(random() * text.length));
  const pieces: string[] = [];
  let from = 0;
  for (const place of [...places.sort((a, b) => a - b), text.length]) {
    pieces.push(text.slice(from, place));
    from = place;
  }
  return pieces;
}

/** Of several lists one in which each keeps its order. */
export function interleaved<Item>(lists: readonly (readonly Item[])[], random: Random): Item[] {
  const waiting = lists.map((list) => [...list]);
  // They begin in their order: that is what numbers are for.
  const all = waiting.flatMap((list) => list.splice(0, 1));
  for (let left = waiting.filter(({ length }) => length > 0); left.length > 0; ) {
    all.push(...pick(random, left).splice(0, 1));
    left = waiting.filter(({ length }) => length > 0);
  }
  return all;
}
