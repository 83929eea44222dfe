import type { Decider } from '../kernel/decider.js';
import { assertNever } from '../kernel/failure.js';
import type { ChannelId, RepairId } from '../kernel/ids.js';
import type { Instant } from '../kernel/instant.js';
import { max, minus, plusQuota, type Quota, zero } from '../kernel/quota.js';
import type { CallRefused } from '../kernel/refusal.js';
import type { Price } from '../pricing/pricing.js';
import type { CallEvent, CallFacts } from './call.js';
import { chargeWithin } from './call-conclusion.js';

/*
 * A call that was charged by a wrong price gets correcting entries in its own stream: what it was charged, and what it is
 * to be charged. The stream sees to it that each repair corrects it once, and undoes that once.
 */

/** What a call costs: what its payers are charged of it, and what nobody owes. */
export interface ChargeShares {
  readonly charged: Quota;
  readonly uncovered: Quota;
}

/** The settlement that is corrected. */
export interface CorrectedSettlement {
  readonly eventId: string;
  /** In the log. */
  readonly position: number;
  readonly at: Instant;
  readonly channelId: ChannelId;
}

/** `undo`: takes back what the repair has posted. */
export type CorrectionPart = 'post' | 'undo';

export interface CallCorrected {
  readonly type: 'CallCorrected';
  readonly facts: CallFacts;
  readonly settlement: CorrectedSettlement;
  readonly repair: RepairId;
  readonly part: CorrectionPart;
  /** By which it is charged from now on. */
  readonly price: Price;
  readonly from: ChargeShares;
  readonly to: ChargeShares;
}

/** By which price a call is charged, and how much. */
export interface Standing extends ChargeShares {
  readonly price: Price;
}

interface Posted {
  readonly repair: RepairId;
  /** As it stood before. */
  readonly before: Standing;
  readonly after: ChargeShares;
  readonly undone: boolean;
}

/** A call as whoever corrects it sees it. */
interface CorrectableCall {
  readonly status: 'unsettled' | 'settled' | 'refunded';
  readonly facts: CallFacts | null;
  readonly settlement: CorrectedSettlement | null;
  readonly standing: Standing | null;
  readonly posted: readonly Posted[];
  readonly corrections: number;
}

/** Beyond that somebody is correcting corrections: the stream of a call is read whole again and again. */
export const maxCorrections = 100;

export type CorrectionCommand =
  | {
      readonly type: 'Correct';
      readonly repair: RepairId;
      readonly settlement: CorrectedSettlement;
      /** As the repair was previewed: a call that stands otherwise by now is left as it is. */
      readonly from: ChargeShares;
      readonly price: Price;
      readonly cost: Quota;
      /** Beyond what it is charged, what its payers can be charged: nothing, where the repair only gives back. */
      readonly payable: Quota;
    }
  | { readonly type: 'Undo'; readonly repair: RepairId; readonly payable: Quota };

export const costOfShares = ({ charged, uncovered }: ChargeShares): Quota => plusQuota(charged, uncovered);

const sameShares = (one: ChargeShares, other: ChargeShares): boolean =>
  one.charged === other.charged && one.uncovered === other.uncovered;

/**
 * What payers are to be charged of another cost. Of what they could not pay before nobody asks them again: they owe the
 * difference at most.
 */
export function wantedCharge(cost: Quota, from: ChargeShares): Quota {
  const before = costOfShares(from);
  return cost > before ? plusQuota(from.charged, minus(cost, before)) : chargeWithin(cost, from.charged);
}

/** Of this, what they can be charged who pay `from.charged` and have `payable` beside it. */
function sharesOf(cost: Quota, wanted: Quota, from: ChargeShares, payable: Quota): ChargeShares {
  const charged = chargeWithin(wanted, plusQuota(from.charged, max(payable, zero)));
  return { charged, uncovered: minus(cost, charged) };
}

/** How much more its payers would have to pay; 0 where they get something back. */
export const moreToPay = (wanted: Quota, { charged }: ChargeShares): Quota => max(minus(wanted, charged), zero);

const corrected = (
  { facts, standing, corrections }: CorrectableCall,
  by: Pick<CallCorrected, 'repair' | 'part' | 'settlement'>,
  { price, ...to }: Standing,
): CallCorrected[] => {
  if (facts === null || standing === null || corrections >= maxCorrections) return [];
  const { charged, uncovered } = standing;
  return [{ type: 'CallCorrected', facts, ...by, price, from: { charged, uncovered }, to }];
};

/** Whose correction is the newest and can be taken back; null: another one has followed, or there is none. */
function undoable({ status, standing, posted }: CorrectableCall, repair: RepairId): Posted | null {
  const found = posted.find((one) => one.repair === repair && !one.undone);
  if (status !== 'settled' || found === undefined || standing === null) return null;
  return sameShares(found.after, standing) && posted.findLast(({ undone }) => !undone) === found ? found : null;
}

/** What a call is to be charged when this repair is undone; null: it cannot be undone there. */
export const chargeBefore = (call: CorrectableCall, repair: RepairId): Quota | null =>
  undoable(call, repair)?.before.charged ?? null;

export const correctionDecider: Decider<CorrectableCall, CorrectionCommand, CallEvent | CallRefused> = {
  initial: { status: 'unsettled', facts: null, settlement: null, standing: null, posted: [], corrections: 0 },
  decide(command, call) {
    const { status, standing, posted } = call;
    switch (command.type) {
      case 'Correct': {
        const { repair, settlement, from, price, cost, payable } = command;
        if (status !== 'settled' || standing === null || !sameShares(standing, from)) return [];
        if (posted.some((one) => one.repair === repair)) return [];
        return corrected(
          call,
          { repair, part: 'post', settlement },
          { price, ...sharesOf(cost, wantedCharge(cost, from), from, payable) },
        );
      }
      case 'Undo': {
        const { repair, payable } = command;
        const found = undoable(call, repair);
        if (found === null || standing === null || call.settlement === null) return [];
        const { price, ...before } = found.before;
        // What it was charged then, and no more, as far as it is there; its cost is that of then in any case.
        const to = sharesOf(costOfShares(before), before.charged, standing, payable);
        return corrected(call, { repair, part: 'undo', settlement: call.settlement }, { price, ...to });
      }
      default:
        return assertNever(command);
    }
  },
  evolve(call, event) {
    switch (event.type) {
      case 'CallSettled': {
        const { facts, price, charged, uncovered } = event;
        return { ...call, status: 'settled', facts, standing: { price, charged, uncovered } };
      }
      case 'CallCorrected': {
        const { repair, part, price, from, to, settlement, facts } = event;
        const posted =
          part === 'post'
            ? [
                ...call.posted,
                { repair, before: { price: call.standing?.price ?? price, ...from }, after: to, undone: false },
              ]
            : call.posted.map((one) => (one.repair === repair ? { ...one, undone: true } : one));
        const corrections = call.corrections + 1;
        return { ...call, facts, settlement, standing: { price, ...to }, posted, corrections };
      }
      case 'CallRefunded':
        return { ...call, status: 'refunded' };
      case 'CallReserved':
      case 'CallReleased':
      case 'CallRefused':
        return call;
      default:
        return assertNever(event);
    }
  },
};
