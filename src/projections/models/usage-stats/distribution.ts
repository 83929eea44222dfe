import type { ColumnType } from 'kysely';
import { durationClassOf } from '../../../domain/durations.js';

/*
 * How long calls took, as a number that adds up: a dozen decimal digits for each class of durations, that of the shortest
 * last. Postgres adds such numbers, and sums them over any rows, as it does any other numeric; zeros at either end take
 * no room in a row.
 */

/** More calls of one class than are ever summed. */
const digits = 12;

/** Written as text; read as text as well, of a sum. */
export type DistributionColumn = ColumnType<string, string, string>;

/** Durations of a batch. Most tallies are of a call or two, so they are kept one by one until they are written. */
export class Distribution {
  private constructor(
    private readonly classes: number[],
    /** Of durations that were counted before, here or in the table. */
    private readonly takenBack: number[],
  ) {}

  static empty = (): Distribution => new Distribution([], []);

  copy(): Distribution {
    return new Distribution(this.classes.slice(), this.takenBack.slice());
  }

  count(ms: number, sign: 1 | -1): void {
    (sign === 1 ? this.classes : this.takenBack).push(durationClassOf(ms));
  }

  addAll({ classes, takenBack }: Distribution): void {
    for (const index of classes) this.classes.push(index);
    for (const index of takenBack) this.takenBack.push(index);
  }

  /** As Postgres reads a numeric. */
  toString(): string {
    const { mantissa, zeros } = numberOf(this.classes);
    if (this.takenBack.length === 0) return `${mantissa}e${zeros}`;
    const less = numberOf(this.takenBack);
    return String(wholeOf({ mantissa, zeros }) - wholeOf(less));
  }
}

/** A whole number without the zeros at its end, and how many these are. */
interface Scaled {
  readonly mantissa: string;
  readonly zeros: number;
}

const wholeOf = ({ mantissa, zeros }: Scaled): bigint => BigInt(mantissa + '0'.repeat(zeros));

function numberOf(classes: readonly number[]): Scaled {
  const [first] = classes;
  if (first === undefined) return { mantissa: '0', zeros: 0 };
  if (classes.length === 1) return { mantissa: '1', zeros: first * digits };
  const counts = new Map<number, number>();
  for (const index of classes) counts.set(index, (counts.get(index) ?? 0) + 1);
  let mantissa = '';
  let above = 0;
  for (const index of [...counts.keys()].sort((one, other) => other - one)) {
    const count = String(counts.get(index));
    mantissa += mantissa === '' ? count : count.padStart((above - index) * digits, '0');
    above = index;
  }
  return { mantissa, zeros: above * digits };
}

/** How many calls were of each class, out of the text of a sum. */
export function countsIn(text: string): number[] {
  const counts: number[] = [];
  for (let end = text.length; end > 0; end -= digits) counts.push(Number(text.slice(Math.max(0, end - digits), end)));
  return counts;
}
