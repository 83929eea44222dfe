import type { Instant } from '../../domain/kernel/instant.js';
import type { MovementCause } from '../../domain/ledger/movements.js';
import type { WalletMovement, WalletRange } from '../../projections/models/wallet-queries.js';
import type { Month } from '../calendar.js';

/* What a statement says, line by line: each begins with the balance that the one before it ended with. */

export interface StatementLine {
  /** On the clocks of the month's zone: `2026-03-01 13:05:00`. */
  readonly time: string;
  /** `calls`: what those of one day were charged. */
  readonly kind: 'opening' | 'closing' | 'calls' | MovementCause;
  /** null: the line is about none. */
  readonly calls: number | null;
  /** null where a balance is stated and nothing moved. */
  readonly amount: bigint | null;
  /** After it: what may be spent, and what is reserved for calls in flight. */
  readonly balance: bigint;
}

interface DayOfCalls {
  readonly day: string;
  calls: number;
  amount: bigint;
}

function daysOf({ charges }: Pick<WalletRange, 'charges'>, { zone }: Month): DayOfCalls[] {
  const days: DayOfCalls[] = [];
  for (const { quarter, calls, amount } of charges) {
    const day = zone.dayOf(quarter * 1000);
    const last = days.at(-1);
    if (last?.day === day) {
      last.calls += calls;
      last.amount += amount;
    } else days.push({ day, calls, amount });
  }
  return days;
}

/** `movements`: those of the month in order, read no faster than the lines are taken. */
export async function* statementLines(
  month: Month,
  range: Pick<WalletRange, 'opening' | 'charges'>,
  movements: AsyncIterable<readonly Pick<WalletMovement, 'at' | 'cause' | 'amount'>[]>,
  now: Instant,
): AsyncGenerator<StatementLine[], void, undefined> {
  const { zone, from, to } = month;
  const end = zone.timeOf(Math.min(now, to - 1000));
  let balance = range.opening;
  const moved = (time: string, kind: StatementLine['kind'], calls: number | null, amount: bigint): StatementLine => {
    balance += amount;
    return { time, kind, calls, amount, balance };
  };
  const days = daysOf(range, month);
  /** The calls of a day stand at its end. */
  const daysBefore = (day: string | null): StatementLine[] => {
    const lines: StatementLine[] = [];
    for (let next = days[0]; next !== undefined && (day === null || next.day < day); next = days[0]) {
      days.shift();
      const time = end.startsWith(next.day) ? end : `${next.day} 23:59:59`;
      lines.push(moved(time, 'calls', next.calls, next.amount));
    }
    return lines;
  };

  yield [{ time: zone.timeOf(from), kind: 'opening', calls: null, amount: null, balance }];
  for await (const page of movements)
    yield page.flatMap(({ at, cause, amount }) => [
      ...daysBefore(zone.dayOf(at)),
      moved(zone.timeOf(at), cause, null, amount),
    ]);
  yield [...daysBefore(null), { time: end, kind: 'closing', calls: null, amount: null, balance }];
}
