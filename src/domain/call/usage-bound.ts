import { boundOf, isOutput, type Quantity, type TokenQuantity, tokenQuantities } from '../pricing/quantities.js';
import { type Counts, noUsage, type Usage } from './usage.js';

/*
 * The most that a call can use, by quantity: the reservation covers it, and what upstream reports beyond it is not
 * believed. `input` and `output` bound all tokens of their direction; kinds with a bound of their own are a part of
 * these. What is left out, or 0, cannot be used at all.
 */

export type InputBound = Usage & { readonly input: number };
export type UsageBound = InputBound & { readonly output: number };

type Direction = 'input' | 'output';

/** A kind of token that a call has a bound of its own for. `isWhole`: all tokens of its direction may be of it. */
interface BoundedKind {
  readonly name: TokenQuantity;
  readonly direction: Direction;
  readonly isWhole: boolean;
}

const boundedKinds: readonly BoundedKind[] = tokenQuantities
  .filter((name) => boundOf(name) !== null)
  .map((name) => ({
    name,
    direction: isOutput(name) ? ('output' as const) : ('input' as const),
    isWhole: boundOf(name) === 'whole',
  }))
  // What all of the rest may be comes last.
  .sort((one, other) => Number(one.isWhole) - Number(other.isWhole));

/** As much as there is of its direction, for kinds that all tokens of one may be of. */
export const unboundedTokens = Number.MAX_SAFE_INTEGER;

export const mayUse = (bound: Usage, name: Quantity): boolean => (bound[name] ?? 0) > 0;

/**
 * So many tokens, of the kinds that these records name, and what else they name; the later wins. No kind has more than
 * its direction, and one that all tokens may be of has as many. Not spread: that costs a call more than its charge does.
 */
export function usageBound(tokens: Record<Direction, number>, kindsOf: Usage, others: Usage = noUsage): UsageBound {
  const bound: Counts & Record<Direction, number> = Object.assign({ input: 0, output: 0 }, kindsOf, others);
  bound.input = tokens.input;
  bound.output = tokens.output;
  for (const { name, direction, isWhole } of boundedKinds) {
    const max = bound[name];
    if (max !== undefined) bound[name] = isWhole ? bound[direction] : Math.min(max, bound[direction]);
  }
  return bound;
}

/** The same with so many output tokens. */
export const withOutput = (bound: UsageBound, output: number): UsageBound =>
  usageBound({ input: bound.input, output }, bound);

/** Kinds with a bound of their own keep to it. One that all tokens of a direction may be of is bounded by their sum. */
export function kindsWithin(reported: Usage, bound: UsageBound, within: Direction): boolean {
  for (const { name, direction, isWhole } of boundedKinds) {
    const count = direction === within ? (reported[name] ?? 0) : 0;
    if (count > 0 && count > (bound[name] ?? 0) && !(isWhole && mayUse(bound, name))) return false;
  }
  return true;
}

/**
 * As much as is reserved for: tokens that may be of a kind with a bound of its own stand under that, the rest under
 * their direction, so that no token stands twice.
 */
export function reservedUsage(bound: UsageBound): Usage {
  let reserved: (Counts & Record<Direction, number>) | null = null;
  for (const { name, direction } of boundedKinds) {
    if (!mayUse(bound, name)) continue;
    reserved ??= Object.assign({}, bound);
    const count = Math.min(bound[name] ?? 0, reserved[direction]);
    reserved[name] = count;
    reserved[direction] -= count;
  }
  return reserved ?? bound;
}

/** The kind of token under which output is reserved. */
export const reservedOutput = (bound: Usage): TokenQuantity =>
  boundedKinds.find(({ name, direction, isWhole }) => direction === 'output' && isWhole && mayUse(bound, name))?.name ??
  'output';
