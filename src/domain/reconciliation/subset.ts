import { type Decimal, roundHalfAway } from '../kernel/decimal.js';
import type { Amounts, Measure } from './amounts.js';

/* Which of some calls add up to a difference: looked for among few, and for a while. */

const maxItems = 16;
const maxSize = 6;
const maxSteps = 20_000;

/** null: not whole, so no calls add up to it. */
const wholeOf = ({ digits, scale }: Decimal): bigint | null => {
  const unit = 10n ** BigInt(scale);
  return digits % unit === 0n ? digits / unit : null;
};

/**
 * Indices of the items whose sum is exactly `target` in these comparedMeasures, at most six of the first sixteen; null: there are
 * none such, or it takes too long to say. The fewer the better.
 */
export function subsetOf(
  items: readonly Amounts[],
  target: Amounts,
  within: readonly Measure[],
): readonly number[] | null {
  const vector = (amounts: Amounts) => within.map((measure) => wholeOf(amounts[measure]));
  const wanted = vector(target);
  if (within.length === 0 || wanted.some((value) => value === null)) return null;
  const vectors = items.slice(0, maxItems).map(vector) as bigint[][];
  let steps = 0;
  const search = (from: number, left: readonly bigint[], size: number): number[] | null => {
    if (size === 0) return left.every((value) => value === 0n) ? [] : null;
    for (let index = from; index <= vectors.length - size; index++) {
      if (++steps > maxSteps) return null;
      const found = search(
        index + 1,
        left.map((value, at) => value - (vectors[index]?.[at] ?? 0n)),
        size - 1,
      );
      if (found !== null) return [index, ...found];
    }
    return null;
  };
  for (let size = 1; size <= Math.min(maxSize, vectors.length); size++) {
    const found = search(0, wanted as bigint[], size);
    if (found !== null) return found;
  }
  return null;
}

/** Of a count that is shown or compared with the size of a list. */
export const countOf = (value: Decimal): number => roundHalfAway(value);
