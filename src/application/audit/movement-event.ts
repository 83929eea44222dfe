import { Position, type Recorded } from '../../domain/events/events.js';
import { invalidField } from '../../domain/kernel/failure.js';
import { type MoneyEvent, moneyEvents } from '../../domain/ledger/movements.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { EventStore } from '../ports/storage-ports.js';

/* The event behind a movement, for who replays a history. */

/** As it stands in the log, without what belongs to a secret. */
export interface MovementEvent extends Pick<Recorded, 'position' | 'stream' | 'revision' | 'at'> {
  readonly type: MoneyEvent['type'];
  readonly payload: Readonly<Record<string, unknown>>;
}

type Members<Event> = Event extends unknown ? Exclude<keyof Event, 'type'> : never;

/** What says nothing of money: by what a secret is recognised, and where it is kept. */
const hiddenMembers: {
  readonly [Type in MoneyEvent['type']]: readonly Members<Extract<MoneyEvent, { type: Type }>>[];
} = {
  ApiKeyIssued: ['keyHash', 'secret'],
  ApiKeyEdited: [],
  CallReserved: [],
  CallSettled: [],
  CallReleased: [],
  CallRefunded: [],
  CallCorrected: [],
  InviteRewardEarned: [],
  InviteRewardTransferred: [],
  QuotaAdjusted: [],
  QuotaGranted: [],
  RedemptionCodeRedeemed: [],
  TopUpCompleted: [],
  TopUpRefunded: [],
  TopUpDisputed: [],
  TopUpDisputeWon: [],
};

const movesMoney = (recorded: Recorded): recorded is Recorded<MoneyEvent> =>
  Object.hasOwn(moneyEvents, recorded.event.type);

function shownEvent({ position, stream, revision, at, event }: Recorded<MoneyEvent>): MovementEvent {
  const { type, ...members } = event;
  const hidden: readonly string[] = hiddenMembers[type];
  const payload = Object.fromEntries(Object.entries(members).filter(([name]) => !hidden.includes(name)));
  return { position, stream, revision, at, type, payload };
}

export function movementEventQueries({ store }: { readonly store: Pick<EventStore, 'readAll'> }) {
  return {
    /** null: no event there moves money, or this release cannot read it. Throws `role-too-low`, `invalid-field`. */
    async movementEvent(viewer: Actor, position: number): Promise<MovementEvent | null> {
      authorise(viewer, 'admin-reading');
      if (position < 0) throw invalidField('position', 'an integer from 0');
      // Nothing lies between a position and the one before it, whether or not there is an event at that one.
      const [recorded] = await store.readAll(Position(position - 1), 1);
      return recorded?.position === Position(position) && movesMoney(recorded) ? shownEvent(recorded) : null;
    },
  };
}
