import type { ColumnType } from 'kysely';
import { durationClasses, durationClassOf } from '../../../domain/kernel/durations.js';
import { type AsNumeric, type Numeric, numericOf } from '../../engine/column-arrays.js';

/*
 * How long calls took, as a number that adds up: a dozen decimal digits for each class of durations, that of the shortest
 * last. Postgres adds such numbers, and sums them over any rows, as it does any other numeric; zeros at either end take
 * no room in a row.
 */

/** More calls of one class than are ever summed. */
const digits = 12;

/** Read as text, of a sum. */
export type DistributionColumn = ColumnType<string, string, string>;

/** Durations of a batch. Most tallies are of a call or two, so they are kept one by one until they are written. */
export class Distribution implements AsNumeric {
  private constructor(
    private readonly classes: number[],
    /** Of durations that were counted before, here or in the table; null: none, as nearly always. */
    private takenBack: number[] | null,
  ) {}

  static empty = (): Distribution => new Distribution([], null);

  copy(): Distribution {
    return new Distribution(this.classes.slice(), this.takenBack?.slice() ?? null);
  }

  count(ms: number, sign: 1 | -1): void {
    const index = durationClassOf(ms);
    if (sign === 1) this.classes.push(index);
    else this.takeBack(index);
  }

  addAll({ classes, takenBack }: Distribution): void {
    for (const index of classes) this.classes.push(index);
    if (takenBack !== null) for (const index of takenBack) this.takeBack(index);
  }

  private takeBack(index: number): void {
    this.takenBack ??= [];
    this.takenBack.push(index);
  }

  /** Below zero in some classes, or altogether, where more is taken back than was counted here. */
  toNumeric(): Numeric {
    return this.takenBack === null ? sumOf(this.classes) : numericOf(wholeOf(this.classes) - wholeOf(this.takenBack));
  }
}

/** What one call of a class counts. */
const wholeOf = (classes: readonly number[]): bigint =>
  classes.reduce((sum, index) => sum + 10n ** BigInt(index * digits), 0n);

/** Digits of a numeric, of four decimal ones each, that a class has. */
const width = digits / 4;

const nothing: Numeric = { negative: false, weight: 0, digits: [] };
const one: readonly number[] = [1];

/** Where one sum is made after the other: counts are 0 in between, and digits read by then. */
const counts = new Uint32Array(durationClasses);
const room = new Uint16Array(durationClasses * width);

function sumOf(classes: readonly number[]): Numeric {
  const [first] = classes;
  if (first === undefined) return nothing;
  if (classes.length === 1) return { negative: false, weight: first * width, digits: one };
  let [lowest, highest] = [first, first];
  for (const index of classes) {
    counts[index] = (counts[index] ?? 0) + 1;
    if (index < lowest) lowest = index;
    else if (index > highest) highest = index;
  }
  let used = 0;
  // A batch has fewer calls than two digits can represent.
  for (let index = highest; index >= lowest; index--) {
    const count = counts[index] ?? 0;
    counts[index] = 0;
    room[used] = 0;
    room[used + 1] = Math.floor(count / 10_000);
    room[used + 2] = count % 10_000;
    used += width;
  }
  return { negative: false, weight: (highest + 1) * width - 1, digits: room.subarray(0, used) };
}

/** How many calls were of each class, out of the text of a sum. */
export function countsIn(text: string): number[] {
  const counts: number[] = [];
  for (let end = text.length; end > 0; end -= digits) counts.push(Number(text.slice(Math.max(0, end - digits), end)));
  return counts;
}
