import { setTimeout } from 'node:timers/promises';
import { networkFailure } from '../contracts/errors.js';
import type { UpstreamRequest } from '../contracts/protocol.js';
import type { Attempt, AttemptFailure } from './attempt-failure.js';

/*
 * Some upstreams take an order, and are asked for what was ordered until it is there. To its caller that is one call, which
 * waits no longer than other calls do. Nothing that goes wrong between two questions says that the order is void: only
 * upstream does, and what it never answers is an attempt of unknown cost.
 */

/** For one question, in milliseconds: it asks for nothing that has to be made. */
const patienceOfQuestion = 20_000;
/** Questions in a row that nobody has answered. */
const maxUnanswered = 5;

interface Asking {
  /** Asks for what was ordered. */
  readonly ask: (request: UpstreamRequest) => Promise<Attempt>;
  /** For all of it, in milliseconds. */
  readonly patienceMs: number;
}

/** It may be made still: ordered elsewhere it would be made twice. */
const unknown = (last: AttemptFailure): AttemptFailure => ({
  ...last,
  costUnknown: true,
  retryable: false,
  passedOver: null,
});

function tooLate(order: AttemptFailure): AttemptFailure {
  const error = networkFailure('the upstream has not finished in time what was ordered');
  return unknown({ ...order, error, forOperator: error });
}

/** What an attempt came to in the end: itself, unless it is an order. */
export async function orderedAnswer(attempt: Attempt, { ask, patienceMs }: Asking): Promise<Attempt> {
  const until = performance.now() + patienceMs;
  let order = attempt;
  for (let unanswered = 0; !order.ok && order.later !== undefined; ) {
    const { request, afterMs } = order.later;
    if (until - performance.now() <= afterMs) return tooLate(order);
    await setTimeout(afterMs);
    const timeoutMs = Math.min(patienceOfQuestion, Math.ceil(until - performance.now()));
    const asked = await ask({ ...request, timeoutMs });
    if (asked.ok || asked.later !== undefined) {
      order = asked;
      unanswered = 0;
      continue;
    }
    if (asked.orderFailed === true) return asked;
    unanswered += 1;
    if (unanswered >= maxUnanswered) return unknown(asked);
  }
  return order;
}
