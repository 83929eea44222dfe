import { isInput, isOutput, type Quantity } from '../pricing/quantities.js';

/*
 * What a call has used: counts by quantity. They are disjoint: what came from a cache is no `input`, what was thought is
 * no `output`. So a charge is one sum, and nothing is counted in two places. What is not named was not used.
 */

/** As events in the log hold it. */
export type Usage = Readonly<Partial<Record<Quantity, number>>>;

/** While it is put together. */
export type Counts = Partial<Record<Quantity, number>>;

export const noUsage: Usage = {};

/** Counts as they were worked out, without what was not used. */
export function used(counts: Usage): Usage {
  const usage: Counts = {};
  for (const name in counts) {
    const count = counts[name as Quantity] ?? 0;
    if (count > 0) usage[name as Quantity] = count;
  }
  return usage;
}

function sumOf(usage: Usage, isCounted: (name: Quantity) => boolean): number {
  let sum = 0;
  for (const name in usage) {
    const count = usage[name as Quantity] ?? 0;
    // As in charges: what is below nothing is nothing.
    if (count > 0 && isCounted(name as Quantity)) sum += count;
  }
  return sum;
}

/** All input, whatever its kind. */
export const promptTokens = (usage: Usage): number => sumOf(usage, isInput);

/** All output, whatever its kind. */
export const completionTokens = (usage: Usage): number => sumOf(usage, isOutput);

/** Whatever was found in a cache. */
export const cachedTokens = (usage: Usage): number => (usage.cachedInput ?? 0) + (usage.cachedAudioInput ?? 0);

/** Whatever was written to a cache, for however long. */
export const cacheWriteTokens = (usage: Usage): number => (usage.cacheWrite ?? 0) + (usage.cacheWriteHour ?? 0);

export function usedAnything(usage: Usage): boolean {
  for (const name in usage) if ((usage[name as Quantity] ?? 0) > 0) return true;
  return false;
}

/** With so many more of one quantity. */
export const plus = (usage: Usage, name: Quantity, count: number): Usage =>
  count === 0 ? usage : { ...usage, [name]: (usage[name] ?? 0) + count };

/** Without tokens that were put out. */
export function withoutOutput(usage: Usage): Usage {
  const rest: Counts = {};
  for (const name in usage) if (!isOutput(name as Quantity)) rest[name as Quantity] = usage[name as Quantity];
  return rest;
}

/** The input tokens of the one and the output of the other; what is no tokens goes with the output. */
export function joined(input: Usage, output: Usage): Usage {
  const whole: Counts = {};
  for (const name in input) take(whole, input, name as Quantity, true);
  for (const name in output) take(whole, output, name as Quantity, false);
  return whole;
}

function take(whole: Counts, part: Usage, name: Quantity, ofInput: boolean): void {
  const count = part[name];
  if (count !== undefined && count > 0 && isInput(name) === ofInput) whole[name] = count;
}
