import { add, type Decimal, isNegative, isSame, isZero, larger, negative, times, ZERO } from '../kernel/decimal.js';
import { type Amounts, countsOf, isNothing, lessBy, ofCost, type TokenRates } from './amounts.js';
import type { DifferenceClass, OwnDoubt } from './sides.js';

/* What a difference is put down to, part by part. The parts of a difference add up to it. */

export interface Part {
  readonly class: DifferenceClass;
  readonly amounts: Amounts;
}

const isAbove = (a: Decimal, b: Decimal): boolean => !isSame(a, b) && larger(a, b) === a;

const atMost = (a: Decimal, most: Decimal): Decimal => (isAbove(a, most) ? most : a);
const size = (a: Decimal): Decimal => (isNegative(a) ? negative(a) : a);

/** What of a cost is neither of other tokens nor of other calls. */
export function costParts(cost: Decimal, tolerance: Decimal): Part[] {
  if (isZero(cost)) return [];
  return [{ class: isAbove(size(cost), tolerance) ? 'price' : 'rounding', amounts: ofCost(cost) }];
}

/** What so many tokens more cost by these rates. */
const costAt = ({ prompt, cached, output }: Amounts, rates: TokenRates): Decimal =>
  [times(add(prompt, negative(cached)), rates.prompt), times(cached, rates.cached), times(output, rates.output)].reduce(
    add,
    ZERO,
  );

/**
 * A difference of counts, of this class, with what it costs by `rates`; the rest of the cost is a matter of price. Without
 * rates all of the cost belongs to the counts.
 */
export function countParts(
  kind: DifferenceClass,
  difference: Amounts,
  { rates, tolerance }: { readonly rates: TokenRates | null; readonly tolerance: Decimal },
): Part[] {
  const counts = countsOf(difference);
  if (isNothing(counts)) return costParts(difference.cost, tolerance);
  if (rates === null) return [{ class: kind, amounts: difference }];
  const cost = costAt(counts, rates);
  const rest = add(difference.cost, negative(cost));
  return [{ class: kind, amounts: { ...counts, cost } }, ...costParts(rest, tolerance)];
}

/**
 * What doubts can explain of more calls and tokens there than here, and the doubts that it takes. `tellsCalls`: the export
 * says how many calls there were.
 */
export function doubted(
  difference: Amounts,
  doubts: readonly OwnDoubt[],
  tellsCalls: boolean,
): { part: Part; doubts: OwnDoubt[] } | null {
  const isMore = (['calls', 'prompt', 'output'] as const).every((measure) => !isNegative(difference[measure]));
  if (!isMore || isNothing(countsOf(difference))) return null;
  const taken: OwnDoubt[] = [];
  let [calls, prompt, output] = [ZERO, ZERO, ZERO];
  for (const doubt of doubts) {
    const isCovered =
      !isAbove(difference.calls, calls) && !isAbove(difference.prompt, prompt) && !isAbove(difference.output, output);
    if (isCovered) break;
    // Of calls no more than there are too many.
    if (tellsCalls && !isZero(doubt.most.calls) && !isAbove(difference.calls, calls)) continue;
    taken.push(doubt);
    calls = add(calls, doubt.most.calls);
    prompt = add(prompt, doubt.most.prompt);
    output = add(output, doubt.most.output);
  }
  const explained: Amounts = {
    calls: atMost(difference.calls, calls),
    prompt: atMost(difference.prompt, prompt),
    cached: ZERO,
    output: atMost(difference.output, output),
    cost: ZERO,
  };
  if (isNothing(explained)) return null;
  const cached = atMost(difference.cached, explained.prompt);
  const whole = { ...explained, cached };
  const isAll = isNothing(lessBy(countsOf(difference), whole));
  // What part of a cost belongs to a part of the tokens nobody can say.
  return { part: { class: 'unknown-outcome', amounts: isAll ? difference : whole }, doubts: taken };
}

export const restOf = (difference: Amounts, parts: readonly Part[]): Amounts =>
  parts.reduce((rest, { amounts }) => lessBy(rest, amounts), difference);
