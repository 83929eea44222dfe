import {
  boundOf,
  inputQuantities,
  outputQuantities,
  type Quantity,
  type TokenQuantity,
} from '../pricing/quantities.js';
import type { Counts, Usage } from './usage.js';

/*
 * The most that a call can use, by quantity: what upstream tells beyond it is not believed, and what is held covers it.
 *
 * `input` and `output` bound all tokens of their direction, whatever their kind. Kinds with a bound of their own are a
 * part of these; any token may turn out to be of another kind. What is left out, or 0, cannot be used at all.
 */

export type InputBound = Usage & { readonly input: number };
export type UsageBound = InputBound & { readonly output: number };

type Direction = 'input' | 'output';

/** Kinds that some tokens of a direction may be of, and kinds that all of them may be of. */
interface BoundedKinds {
  readonly parts: readonly TokenQuantity[];
  readonly wholes: readonly TokenQuantity[];
  readonly all: readonly TokenQuantity[];
}

function kindsAmong(names: readonly TokenQuantity[]): BoundedKinds {
  const parts = names.filter((name) => boundOf(name) === 'part');
  const wholes = names.filter((name) => boundOf(name) === 'whole');
  return { parts, wholes, all: [...parts, ...wholes] };
}

const boundedKinds: Readonly<Record<Direction, BoundedKinds>> = {
  input: kindsAmong(inputQuantities),
  output: kindsAmong(outputQuantities),
};

/** As much as there is of its direction, for kinds that all tokens of one may be of. */
export const unboundedTokens = Number.MAX_SAFE_INTEGER;

export const mayUse = (bound: Usage, name: Quantity): boolean => (bound[name] ?? 0) > 0;

/** The same with so many tokens of one direction: no kind has more, and one that all of them may be of has as many. */
export function upTo<Bound extends Usage>(bound: Bound, direction: Direction, tokens: number): Bound {
  const changed: Bound & Counts = { ...bound, [direction]: tokens };
  const { parts, wholes } = boundedKinds[direction];
  for (const kind of parts) if (mayUse(bound, kind)) changed[kind] = Math.min(bound[kind] ?? 0, tokens);
  for (const kind of wholes) if (bound[kind] !== undefined) changed[kind] = tokens;
  return changed;
}

/** Kinds with a bound of their own keep to it. One that all tokens of a direction may be of is bounded by their sum. */
export function kindsWithin(told: Usage, bound: Usage, direction: Direction): boolean {
  const { parts, wholes } = boundedKinds[direction];
  for (const kind of parts) if ((told[kind] ?? 0) > (bound[kind] ?? 0)) return false;
  for (const kind of wholes) if ((told[kind] ?? 0) > 0 && !mayUse(bound, kind)) return false;
  return true;
}

/**
 * As much as is held for: tokens that may be of a kind with a bound of its own stand under that, the rest under their
 * direction, so that no token stands twice.
 */
export function heldUsage(bound: UsageBound): Usage {
  const held: Counts = { ...bound };
  for (const direction of ['input', 'output'] as const) {
    let left = bound[direction];
    for (const kind of boundedKinds[direction].all) {
      if (bound[kind] === undefined) continue;
      const count = Math.min(bound[kind], left);
      held[kind] = count;
      left -= count;
    }
    held[direction] = left;
  }
  return held;
}

/** The kind of token under which output is held. */
export const heldOutput = (bound: Usage): TokenQuantity =>
  boundedKinds.output.wholes.find((kind) => mayUse(bound, kind)) ?? 'output';
