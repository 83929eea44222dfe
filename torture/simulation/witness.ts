import type { QuotaGate } from '../../src/application/ports/storage-ports.js';
import type { Position, Recorded } from '../../src/domain/events/events.js';
import { Books, owned } from '../checker/books.js';
import { callEvent, type RawEvent } from '../checker/raw-events.js';

/*
 * Watches the quota gate: keeps by itself what is there and what is reserved at each moment, in the order in which the
 * gate decides and not that of the log, and judges each decision when it is made.
 */

interface Hold {
  readonly user: number;
  readonly apiKey: number | null;
  /** The allowance of its API key bounds what it may reserve and be charged. */
  readonly limited: boolean;
  held: bigint;
  /** Of that, what it is charged, once that is decided. */
  due: bigint;
}

/** More in the log than the gate knows of. */
interface Unseen {
  readonly position: bigint;
  readonly call: string | null;
  readonly user: number;
  readonly apiKey: number | null;
  quota: bigint;
}

type Payer = 'user' | 'apiKey';
type Decisions = Pick<QuotaGate, 'admit' | 'extend' | 'charge' | 'chargeLeft' | 'settled' | 'drop'>;

const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);

export class Witness {
  readonly problems: string[] = [];
  private readonly books = new Books();
  /** Calls that have been admitted and have no outcome in the log. */
  private serving = false;
  private readonly holds = new Map<string, Hold>();
  /** What the gate need not know of yet, though the log has it: credits, and how much outcomes have given back. */
  private unseen: Unseen[] = [];

  /** The log has one more event. */
  wrote(event: RawEvent): void {
    const { stream, type } = event;
    const [kind, id = ''] = stream.split(/-(.*)/);
    if (kind === 'call') {
      this.books.fold([event]);
      if (type === 'CallReserved') this.reservationWritten(id);
      else this.outcomeWritten(id, event);
      return;
    }
    const user = kind === 'user' ? Number(id) : null;
    const before = user === null ? 0n : this.books.user(user).given;
    this.books.fold([event]);
    if (user === null) return;
    const quota = this.books.user(user).given - before;
    this.unseen.push({ position: event.position, call: null, user, apiKey: null, quota });
  }

  private reservationWritten(id: string): void {
    if (!this.serving) this.holdAsWritten(id);
    else if (!this.holds.has(id)) this.problems.push(`the reservation of ${id} is written, and nothing is held for it`);
  }

  private outcomeWritten(id: string, event: RawEvent): void {
    const { user, apiKey, charged } = callEvent(event);
    const given = event.type === 'CallRefunded' ? charged : (this.holds.get(id)?.held ?? 0n) - charged;
    this.holds.delete(id);
    this.unseen.push({ position: event.position, call: id, user, apiKey, quota: given });
  }

  /** Comes after the gate, which then knows as much. */
  take(batch: readonly Recorded[]): void {
    const last = batch.at(-1);
    if (last !== undefined) this.reached(last.position);
  }

  /** The gate has all that the log says up to there. */
  reached(position: Position): void {
    this.unseen = this.unseen.filter((one) => one.position > BigInt(Number(position)));
  }

  /** The process of the gate has ended: what it knew and has not written is nowhere. */
  died(): void {
    this.serving = false;
    this.holds.clear();
    for (const [id, { settled, released }] of this.books.calls)
      if (settled.length + released.length === 0) this.holdAsWritten(id);
  }

  private holdAsWritten(id: string): void {
    const reserved = this.books.calls.get(id)?.reserved ?? null;
    if (reserved === null) return;
    const { user, apiKey, reserved: held } = reserved;
    this.holds.set(id, { user, apiKey, limited: false, held, due: 0n });
  }

  /** The gate, whose decisions are looked at. */
  watch<Gate extends Decisions>(gate: Gate): Gate {
    this.serving = true;
    return {
      ...gate,
      admit: async (request) => {
        const admission = await gate.admit(request);
        if (admission.admitted) {
          const { callId, userId: user, apiKeyId: apiKey, terms } = request;
          const hold: Hold = { user, apiKey, limited: apiKey !== null && !terms.unlimited, held: 0n, due: 0n };
          this.holds.set(callId, hold);
          this.reserve(callId, hold, BigInt(admission.granted));
        }
        return admission;
      },
      extend: async (callId, quota) => {
        const extended = await gate.extend(callId, quota);
        const hold = this.holds.get(callId);
        if (extended && hold !== undefined) this.reserve(callId, hold, larger(BigInt(quota), hold.held));
        return extended;
      },
      charge: async (callId, cost) => {
        const charged = await gate.charge(callId, cost);
        if (charged !== null) this.charge(callId, BigInt(cost), BigInt(charged));
        return charged;
      },
      chargeLeft: async (call, cost) => {
        const charged = await gate.chargeLeft(call, cost);
        this.charge(call.callId, BigInt(cost), BigInt(charged));
        return charged;
      },
      settled: async (callId, charged) => {
        await gate.settled(callId, charged);
        this.unseen = this.unseen.filter(({ call }) => call !== callId);
      },
      drop: async (callId) => {
        await gate.drop(callId);
        this.holds.delete(callId);
      },
    };
  }

  private reserve(id: string, hold: Hold, quota: bigint): void {
    const more = quota - hold.held;
    for (const payer of this.payersOf(hold)) {
      const free = larger(this.owned(hold, payer) - this.sum(hold, payer, 'held'), 0n);
      if (more > free) this.problems.push(`${more} are reserved for ${id}, and its ${payer} has ${free} free`);
    }
    hold.held = quota;
  }

  private charge(id: string, cost: bigint, charged: bigint): void {
    const hold = this.holds.get(id);
    if (hold === undefined) {
      this.decideAgain(id, charged);
      return;
    }
    const promised = cost < hold.held ? cost : hold.held;
    // What calls that cost more have taken of what others had reserved.
    let missing = 0n;
    for (const payer of this.payersOf(hold)) {
      const known = this.owned(hold, payer) - this.unseenOf(hold, payer);
      missing = larger(missing, this.sum(hold, payer, 'held') - known);
    }
    if (charged < promised - missing)
      this.problems.push(`${id} is charged ${charged} of ${cost}, with ${hold.held} reserved and ${missing} missing`);
    if (charged > cost) this.problems.push(`${id} is charged ${charged}, and costs ${cost}`);
    hold.due = charged;
    hold.held = larger(hold.held, charged);
    for (const payer of this.payersOf(hold)) {
      const left = this.owned(hold, payer) - this.sum(hold, payer, 'due');
      if (left < 0n) this.problems.push(`the charge of ${id} leaves its ${payer} with ${left}`);
    }
  }

  /** It has its outcome, so this one will not be written; the gate keeps so much for it until it has that from the log. */
  private decideAgain(id: string, charged: bigint): void {
    const written = this.books.calls.get(id)?.settled[0]?.charged ?? 0n;
    for (const one of this.unseen) if (one.call === id) one.quota = larger(one.quota, charged - written);
  }

  private payersOf({ limited }: Hold): readonly Payer[] {
    return limited ? ['user', 'apiKey'] : ['user'];
  }

  private owned(hold: Hold, payer: Payer): bigint {
    return owned(payer === 'user' ? this.books.user(hold.user) : this.books.apiKey(hold.apiKey ?? 0));
  }

  private sum(hold: Hold, payer: Payer, what: 'held' | 'due'): bigint {
    let sum = 0n;
    for (const other of this.holds.values()) if (other[payer] === hold[payer]) sum += other[what];
    return sum;
  }

  private unseenOf(hold: Hold, payer: Payer): bigint {
    return this.unseen.reduce((sum, one) => sum + (one[payer] === hold[payer] ? one.quota : 0n), 0n);
  }
}
