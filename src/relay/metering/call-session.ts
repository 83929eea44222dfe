import type { Shortage } from '../../application/ports/quota-gate-ports.js';
import type { SpendingTerms } from '../../domain/api-key/api-key-terms.js';
import type { CallFacts } from '../../domain/call/call.js';
import type { Release, Settlement } from '../../domain/call/call-conclusion.js';
import { sessionCallId } from '../../domain/call/call-session.js';
import type { CallId } from '../../domain/kernel/ids.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { Meter, Reservation } from './metered.js';
import type { ReservationEstimate } from './reservation-estimate.js';

/*
 * A call that is settled more than once: a run of reservations, each settled exactly once. The next part is reserved
 * before the last one is settled, so that nothing is delivered that nothing is reserved for.
 */

interface SessionOrder {
  readonly session: CallId;
  readonly facts: CallFacts;
  readonly terms: SpendingTerms;
  /** Of the first part. */
  readonly estimate: ReservationEstimate;
}

type OpenedSession =
  | { readonly ok: true; readonly session: CallSession }
  | { readonly ok: false; readonly shortage: Shortage };

/** `charged`: for the part that was settled. Where there is no quota for another one the session is over. */
type SettledPart =
  | { readonly ok: true; readonly charged: Quota }
  | { readonly ok: false; readonly charged: Quota; readonly shortage: Shortage };

/** Reserves the first part. Rejects as `Meter.reserve`. */
export async function openCallSession(meter: Pick<Meter, 'reserve'>, order: SessionOrder): Promise<OpenedSession> {
  const { session, facts, terms, estimate } = order;
  const reserving = await meter.reserve(sessionCallId(session, 0), facts, terms, estimate);
  if (!reserving.ok) return reserving;
  return { ok: true, session: new CallSession(meter, order, reserving.reservation) };
}

const neverSent: Release = { kind: 'never-sent', reason: 'internal', status: null, code: null };

export class CallSession {
  private part = 0;
  private state: 'idle' | 'settling' | 'over' = 'idle';
  private left = false;

  constructor(
    private readonly meter: Pick<Meter, 'reserve'>,
    private readonly order: Pick<SessionOrder, 'session' | 'facts' | 'terms'>,
    private current: Reservation,
  ) {}

  /** Of the part in flight; another one after each `settlePart`. */
  get reservation(): Reservation {
    return this.current;
  }

  /** Whether another part may be settled, or the last one concluded. */
  get isOver(): boolean {
    return this.state === 'over';
  }

  /**
   * Settles the part in flight, whatever becomes of the next one, which `estimate` is of. Rejects where the log does not
   * answer: the session is over then, its charge follows as of `Reservation.settle`, and nothing else is left reserved.
   */
  async settlePart(settlement: Settlement, estimate: ReservationEstimate): Promise<SettledPart> {
    this.begin();
    const last = this.current;
    const early = await this.reserveNext(estimate).catch((error: unknown) => ({ ok: false as const, error }));
    if ('error' in early) {
      this.state = 'over';
      await last.settle(settlement);
      throw early.error;
    }
    const charged = await this.concluded(last.settle(settlement), early.ok ? early.reservation : null);
    // What the last part reserved beyond its charge is free by now.
    const next = early.ok ? early : await this.concluded(this.reserveNext(estimate), null);
    if (!next.ok) {
      this.state = 'over';
      return { ok: false, charged, shortage: next.shortage };
    }
    this.current = next.reservation;
    this.part++;
    this.state = 'idle';
    if (this.left) this.leave();
    return { ok: true, charged };
  }

  /** Settles the last part. As of `Reservation.settle`. */
  settle(settlement: Settlement): Promise<Quota> {
    this.begin();
    this.state = 'over';
    return this.current.settle(settlement);
  }

  /** Gives back the part in flight, of which nothing was delivered. As of `Reservation.release`. */
  release(release: Release): Promise<void> {
    this.begin();
    this.state = 'over';
    return this.current.release(release);
  }

  /** Nobody serves the session any more: a part without an outcome is for recovery to find. */
  leave(): void {
    this.left = true;
    if (this.state !== 'idle') return;
    this.state = 'over';
    this.current.leave();
  }

  private begin(): void {
    if (this.state !== 'idle') throw new Error(`The session ${this.order.session} is ${this.state}`);
    this.state = 'settling';
  }

  private reserveNext(estimate: ReservationEstimate): ReturnType<Meter['reserve']> {
    const { session, facts, terms } = this.order;
    return this.meter.reserve(sessionCallId(session, this.part + 1), facts, terms, estimate);
  }

  /** The session is over where it rejects; what was reserved for its next part has gone nowhere, and is given back. */
  private async concluded<Result>(step: Promise<Result>, next: Reservation | null): Promise<Result> {
    try {
      return await step;
    } catch (error) {
      this.state = 'over';
      await next?.release(neverSent);
      throw error;
    }
  }
}
