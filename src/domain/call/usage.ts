/*
 * What a call has used: counts of named quantities. They are disjoint: what came from a cache is no `input`, what was
 * thought is no `output`. So a charge is one sum, and nothing is counted in two places. What is not named was not used.
 */

const tokenSides = {
  input: 'input',
  cachedInput: 'input',
  cacheWrite: 'input',
  /** Kept for an hour instead of minutes. */
  cacheWriteHour: 'input',
  imageInput: 'input',
  audioInput: 'input',
  output: 'output',
  reasoning: 'output',
  imageOutput: 'output',
  audioOutput: 'output',
} as const;

export type TokenQuantity = keyof typeof tokenSides;
export const tokenQuantities = Object.keys(tokenSides) as TokenQuantity[];

/** What is counted otherwise than in tokens: pictures, seconds of sound, calls of a tool by its name. */
export type ToolCalls = `calls:${string}`;
export type PieceQuantity = 'images' | 'seconds' | ToolCalls;

export type Quantity = TokenQuantity | PieceQuantity;

type Counts<Name extends Quantity> = Readonly<Partial<Record<Name, number>>>;
export type Usage = Counts<Quantity>;

export const noUsage: Usage = {};

/** Counts as they were worked out, without what was not used. */
export function used(counts: Usage): Usage {
  const usage: Partial<Record<Quantity, number>> = {};
  for (const name in counts) {
    const count = counts[name as Quantity] ?? 0;
    if (count > 0) usage[name as Quantity] = count;
  }
  return usage;
}

export const isTokens = (name: Quantity): name is TokenQuantity => Object.hasOwn(tokenSides, name);

export const isOutput = (name: TokenQuantity): boolean => tokenSides[name] === 'output';

/** All input, whatever its kind. */
export const promptTokens = (usage: Usage): number =>
  (usage.input ?? 0) +
  (usage.cachedInput ?? 0) +
  (usage.cacheWrite ?? 0) +
  (usage.cacheWriteHour ?? 0) +
  (usage.imageInput ?? 0) +
  (usage.audioInput ?? 0);

/** All output, whatever its kind. */
export const completionTokens = (usage: Usage): number =>
  (usage.output ?? 0) + (usage.reasoning ?? 0) + (usage.imageOutput ?? 0) + (usage.audioOutput ?? 0);

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
  const rest: Partial<Record<Quantity, number>> = {};
  for (const name in usage)
    if (!isTokens(name as Quantity) || !isOutput(name as TokenQuantity))
      rest[name as Quantity] = usage[name as Quantity];
  return rest;
}

export const isToolCalls = (name: Quantity): name is ToolCalls => name.startsWith('calls:');

/** The input of the one and the output of the other; pieces go with the output. */
export function joined(input: Usage, output: Usage): Usage {
  const whole: Partial<Record<Quantity, number>> = {};
  for (const name in input) take(whole, input, name as Quantity, true);
  for (const name in output) take(whole, output, name as Quantity, false);
  return whole;
}

function take(whole: Partial<Record<Quantity, number>>, part: Usage, name: Quantity, isInput: boolean): void {
  const count = part[name];
  if (count !== undefined && count > 0 && (isTokens(name) && !isOutput(name)) === isInput) whole[name] = count;
}
