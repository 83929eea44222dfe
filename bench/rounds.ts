import { median, rounded } from './figures.js';
import type { Surroundings } from './part.js';

/*
 * Interleaved rounds: a round measures each route once, one after the other, so that whatever else the machine does
 * falls on all of them. A comparison is made within each round; what is reported is the median of the rounds.
 */

/** What a round found, by route. */
export type Round<Value> = Readonly<Record<string, Value>>;

/** The routes beginning with another one each round: nobody is always the first on a machine that has been resting. */
export const turned = (routes: readonly string[], round: number): string[] =>
  routes.map((_, at) => routes[(at + round) % routes.length] ?? '');

export async function oneRound<Value>(
  routes: readonly string[],
  number: number,
  measure: (route: string) => Promise<Value>,
): Promise<Round<Value>> {
  const found: Record<string, Value> = {};
  for (const route of turned(routes, number)) found[route] = await measure(route);
  return found;
}

/** So many rounds, numbered from 1. */
export async function inRounds<Found>(
  count: number,
  { progress, signal }: Surroundings,
  round: (number: number) => Promise<Found>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (let number = 1; number <= count; number++) {
    signal.throwIfAborted();
    progress(`round ${number} of ${count}`);
    found.push(await round(number));
  }
  return found;
}

const at = <Value>(round: Round<Value>, route: string): Value => {
  const value = round[route];
  if (value === undefined) throw new Error(`${route} was not measured`);
  return value;
};

/** The median over the rounds of what `measure` sees in a route. */
export const medianOf = <Value>(
  rounds: readonly Round<Value>[],
  route: string,
  measure: (value: Value) => number,
): number => median(rounds.map((round) => measure(at(round, route))));

/** One route against another, round by round, to a thousandth. */
export const comparedIn = <Value>(
  rounds: readonly Round<Value>[],
  [ours, theirs]: readonly [string, string],
  measure: (value: Value) => number,
  compare: (ours: number, theirs: number) => number,
): number => rounded(median(rounds.map((round) => compare(measure(at(round, ours)), measure(at(round, theirs))))), 3);

export const share = (ours: number, theirs: number): number => ours / theirs;
export const difference = (ours: number, theirs: number): number => ours - theirs;
