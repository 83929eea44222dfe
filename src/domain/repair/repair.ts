import type { Decider } from '../kernel/decider.js';
import { assertNever, Failure } from '../kernel/failure.js';
import type { ApiKeyId, ChannelId, RepairId, UserId } from '../kernel/ids.js';
import type { Instant } from '../kernel/instant.js';
import type { OtherPrices } from '../pricing/other-price.js';
import type { PricePeriods } from '../pricing/records/model-price.js';

/*
 * A price repair: calls of a period that were charged by a wrong price, and the right one. Stream `repair-{id}`: ordered,
 * ended; and then, where somebody wants that, its undo ordered and ended. What it does to a call is an event of the call.
 */

/** Which calls it looks at. null: all. */
export interface RepairScope {
  /** When they were settled. Inclusive. */
  readonly from: Instant;
  /** Exclusive. */
  readonly to: Instant;
  readonly model: string | null;
  readonly userId: UserId | null;
  readonly group: string | null;
  /** That has answered. */
  readonly channelId: ChannelId | null;
  readonly apiKeyId: ApiKeyId | null;
}

/** Where the right prices come from: a price table in a file, or the prices that held. */
export type RightPriceOrigin =
  | { readonly kind: 'file'; readonly name: string }
  /** `position`: of the last change that is in force in them. */
  | { readonly kind: 'held'; readonly position: number; readonly at: Instant };

/** In the event, so that the repair needs nothing else: only what the calls concerned are priced by. */
export interface RightPrices {
  readonly origin: RightPriceOrigin;
  readonly records: Readonly<Record<string, PricePeriods>>;
  readonly groupRatio: Readonly<Record<string, string>>;
  readonly quotaPerUnit: string;
}

/** What corrections come to. */
export interface RepairSums {
  readonly calls: number;
  /** Quota that payers get back, as whole decimal text. */
  readonly given: string;
  /** That they are charged beside it. */
  readonly taken: string;
}

/** `cli`: whoever has the database. */
export type RepairOrderer = UserId | 'cli';

export type RepairEvent =
  | {
      readonly type: 'RepairOrdered';
      readonly by: RepairOrderer;
      readonly scope: RepairScope;
      readonly right: RightPrices;
      /** Who was charged too little pays the rest, as far as it is there. Otherwise such calls stay as they are. */
      readonly isCharging: boolean;
      /** Behind which its calls were settled. */
      readonly after: number;
      /** It is of calls as they stand there. */
      readonly upTo: number;
      /** Of all that it posts. */
      readonly digest: string;
      readonly planned: RepairSums;
    }
  | {
      readonly type: 'RepairEnded';
      readonly posted: RepairSums;
      /** Calls that were something else by then than what was previewed, and were left. */
      readonly changed: number;
      /** What was to be posted could not be found again, so the rest was left. */
      readonly isAbandoned: boolean;
    }
  | { readonly type: 'RepairUndoOrdered'; readonly by: RepairOrderer }
  | { readonly type: 'RepairUndoEnded'; readonly posted: RepairSums; readonly changed: number };

export type RepairOrdered = Extract<RepairEvent, { type: 'RepairOrdered' }>;
export type RepairEnded = Extract<RepairEvent, { type: 'RepairEnded' }>;
type RepairUndoEnded = Extract<RepairEvent, { type: 'RepairUndoEnded' }>;

type RepairCommand =
  | { readonly type: 'Order'; readonly event: RepairOrdered }
  | { readonly type: 'End'; readonly event: RepairEnded }
  | { readonly type: 'OrderUndo'; readonly by: RepairOrderer }
  | { readonly type: 'EndUndo'; readonly event: RepairUndoEnded };

export type RepairState = 'posting' | 'posted' | 'undoing' | 'undone';

interface Repair {
  readonly state: RepairState | 'none';
}

export const repairDecider: Decider<Repair, RepairCommand, RepairEvent> = {
  initial: { state: 'none' },
  decide(command, { state }) {
    switch (command.type) {
      case 'Order':
        return state === 'none' ? [command.event] : [];
      case 'End':
        return state === 'posting' ? [command.event] : [];
      case 'OrderUndo':
        if (state === 'none') throw new Failure('repair-not-found');
        if (state === 'posting') throw new Failure('repair-under-way');
        return state === 'posted' ? [{ type: 'RepairUndoOrdered', by: command.by }] : [];
      case 'EndUndo':
        return state === 'undoing' ? [command.event] : [];
      default:
        return assertNever(command);
    }
  },
  evolve(_, event) {
    switch (event.type) {
      case 'RepairOrdered':
        return { state: 'posting' };
      case 'RepairEnded':
        return { state: 'posted' };
      case 'RepairUndoOrdered':
        return { state: 'undoing' };
      case 'RepairUndoEnded':
        return { state: 'undone' };
      default:
        return assertNever(event);
    }
  },
};

/** Digits and letters of a digest by which the repair is called. */
const idLength = 24;

export const repairIdOf = (digest: string): RepairId => digest.slice(0, idLength) as RepairId;

export const otherPricesOf = ({ records, groupRatio, quotaPerUnit }: RightPrices): OtherPrices => ({
  records: new Map(Object.entries(records)),
  groupRatio: new Map(Object.entries(groupRatio)),
  quotaPerUnit,
});
