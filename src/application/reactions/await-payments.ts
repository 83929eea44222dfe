import { atIntervals } from '../../concurrency/at-intervals.js';
import { beginning, type Position } from '../../domain/events/events.js';
import type { PaymentId } from '../../domain/kernel/ids.js';
import type { PaymentRow } from '../../projections/models/payments.js';
import type { PaymentCommands } from '../payments/payment-commands.js';
import type { Clock } from '../ports/storage-ports.js';

/*
 * Orders of which no webhook has come are polled: at once after a start, for what was paid meanwhile, and then less and
 * less often. After a day an order expires; where its provider does not answer, after three.
 */

interface AwaitingPorts {
  /** Those nobody has paid, ordered behind `after`, oldest first. */
  readonly open: (
    after: Position,
    max: number,
  ) => Promise<readonly Pick<PaymentRow, 'id' | 'created_at' | 'position'>[]>;
  readonly clock: Clock;
  readonly payments: Pick<PaymentCommands, 'check' | 'expire'>;
}

interface AwaitingOptions {
  /** Between two rounds. */
  readonly everyMs: number;
  readonly failed: (error: unknown, order: PaymentId | null) => void;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const expiresAfterMs = dayMs;
const givenUpAfterMs = 3 * dayMs;
const maxPauseMs = 60 * minuteMs;
/** Orders looked at, and asked about, in one round. */
const pageSize = 500;
const askedInOneRound = 20;

/** While somebody may still be at the payment page, whose webhook comes sooner than our question. */
const firstAfterMs = minuteMs;

/** Half of its age: an order that is paid late is mostly never paid. */
const pauseAt = (ageMs: number): number => Math.min(Math.max(ageMs / 2, minuteMs), maxPauseMs);

export function awaitingPayments({ open, clock, payments }: AwaitingPorts, failed: AwaitingOptions['failed']) {
  let after: Position = beginning;
  /** Not asked about before; those that are not open any more go when a walk through all of them is over. */
  let nextAt = new Map<PaymentId, number>();
  let seen = new Map<PaymentId, number>();

  const lookAt = async (id: PaymentId, ageMs: number): Promise<void> => {
    const checked = await payments.check(id).catch((error) => {
      failed(error, id);
      return null;
    });
    if (checked !== null && checked.status !== 'open') return;
    const isAnswered = checked !== null && !checked.unanswered;
    if (ageMs >= (isAnswered ? expiresAfterMs : givenUpAfterMs)) await payments.expire(id, 'time');
  };

  /** One round. */
  return async (): Promise<void> => {
    const page = await open(after, pageSize);
    let asked = 0;
    for (const { id, created_at, position } of page) {
      const now = clock.now();
      // An order from the future, after the clock was set back, was made now; and nothing waits beyond the longest pause.
      const ageMs = Math.max(0, now - created_at * 1000);
      const due = Math.min(nextAt.get(id) ?? now - ageMs + firstAfterMs, now + maxPauseMs);
      if (due > now) seen.set(id, due);
      else {
        if (asked++ >= askedInOneRound) return;
        seen.set(id, now + pauseAt(ageMs));
        await lookAt(id, ageMs).catch((error) => failed(error, id));
      }
      after = position;
    }
    if (page.length === pageSize) return;
    after = beginning;
    nextAt = seen;
    seen = new Map();
  };
}

/** The result ends it. */
export function startAwaitingPayments(ports: AwaitingPorts, { everyMs, failed }: AwaitingOptions): () => Promise<void> {
  const round = awaitingPayments(ports, failed);
  return atIntervals(everyMs, () => round().catch((error) => failed(error, null)));
}
