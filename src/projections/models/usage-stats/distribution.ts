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

/** Durations counted; some may be taken back whose counting is in the table already. */
export class Distribution {
  private constructor(private readonly counts: Map<number, number>) {}

  static empty = (): Distribution => new Distribution(new Map());

  copy(): Distribution {
    return new Distribution(new Map(this.counts));
  }

  count(ms: number, sign: 1 | -1): void {
    this.add(durationClassOf(ms), sign);
  }

  addAll(other: Distribution): void {
    for (const [index, count] of other.counts) this.add(index, count);
  }

  private add(index: number, count: number): void {
    this.counts.set(index, (this.counts.get(index) ?? 0) + count);
  }

  /** As Postgres reads a numeric. */
  toString(): string {
    const indexes = [...this.counts.keys()];
    const lowest = Math.min(...indexes);
    const zeros = `e${lowest * digits}`;
    // Where calls are few, most rows are of one.
    if (indexes.length === 1) return `${this.counts.get(lowest)}${zeros}`;
    let sum = 0n;
    for (const [index, count] of this.counts) sum += BigInt(count) * 10n ** BigInt((index - lowest) * digits);
    return sum === 0n ? '0' : `${sum}${zeros}`;
  }
}

/** How many calls were of each class, out of the text of a sum. */
export function countsIn(text: string): number[] {
  const counts: number[] = [];
  for (let end = text.length; end > 0; end -= digits) counts.push(Number(text.slice(Math.max(0, end - digits), end)));
  return counts;
}
