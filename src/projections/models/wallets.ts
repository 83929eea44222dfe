import type { Position, Recorded } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { type Instant, unixSeconds } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import { type MoneyEvent, type MovementCause, movementsOf } from '../../domain/ledger/movements.js';
import { addToRows, insertRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';
import { type Sum, tallyOf } from '../engine/tallies.js';

/*
 * What wallets had at any time: everything that made one larger or smaller, calls summed up. A wallet is what may be spent
 * and what is reserved for calls in flight together, so a reservation changes nothing until its call is settled.
 */

export interface WalletTables {
  wallet_movement: {
    user_id: UserId;
    /** Unix milliseconds. */
    at: Instant;
    position: Position;
    cause: MovementCause;
    amount: Sum<Quota>;
  };
  /** Charges of calls. Every time zone has its midnights at a quarter of an hour, so a day is a sum of whole rows. */
  wallet_charge: {
    user_id: UserId;
    /** Unix seconds of its beginning. */
    quarter: number;
    calls: number;
    /** Negative. */
    amount: Sum<Quota>;
  };
  /** One row: the position of the last event folded that could have changed a wallet. */
  wallet_position: { position: Position };
}

const quarterSeconds = 15 * 60;

const tables = `
  create table wallet_movement (
    user_id bigint not null,
    at bigint not null,
    position bigint not null,
    cause text not null,
    amount numeric not null,
    primary key (user_id, at, position)
  );
  create table wallet_charge (
    user_id bigint not null,
    quarter bigint not null,
    calls bigint not null,
    amount numeric not null,
    primary key (user_id, quarter)
  ) with (fillfactor = 70);
  create table wallet_position (position bigint not null);
  insert into wallet_position values (-1);
`;

interface Charges {
  readonly user_id: UserId;
  readonly quarter: number;
  calls: number;
  amount: bigint;
}

interface Moved {
  readonly user_id: UserId;
  readonly at: Instant;
  readonly position: Position;
  readonly cause: MovementCause;
  readonly amount: bigint;
}

/** The rows that these events add, and what they add to those of charges. */
export function walletChanges(batch: readonly Recorded[]): {
  readonly moved: readonly Moved[];
  readonly charged: readonly Readonly<Charges>[];
} {
  const moved: Moved[] = [];
  const charged = new Map<string, Charges>();
  for (const recorded of batch) {
    const { at, position } = recorded;
    for (const { cause, postings } of movementsOf(recorded)) {
      const changes = new Map<UserId, bigint>();
      for (const posting of postings)
        if (posting.owner === 'user') changes.set(posting.id, (changes.get(posting.id) ?? 0n) + posting.amount);
      for (const [user_id, amount] of changes) {
        if (amount === 0n) continue;
        if (cause !== 'settlement') {
          moved.push({ user_id, at, position, cause, amount });
          continue;
        }
        const quarter = Math.floor(unixSeconds(at) / quarterSeconds) * quarterSeconds;
        const empty = () => ({ user_id, quarter, calls: 0, amount: 0n });
        const charges = tallyOf(charged, `${user_id} ${quarter}`, empty);
        charges.calls += 1;
        charges.amount += amount;
      }
    }
  }
  return { moved, charged: [...charged.values()] };
}

/**
 * Reservations stay in the wallet, rewards come into it by a transfer, and the rest is of API keys. Half of all events
 * are reservations.
 */
type Unmoving = 'CallReserved' | 'CallReleased' | 'InviteRewardEarned' | 'ApiKeyIssued' | 'ApiKeyEdited';

export const wallets = projection<Exclude<MoneyEvent, { type: Unmoving }>>({
  name: 'wallets',
  version: 2,
  purpose: 'showing',
  tables,
  interestedIn: {
    QuotaGranted: true,
    QuotaAdjusted: true,
    RedemptionCodeRedeemed: true,
    InviteRewardTransferred: true,
    CallSettled: true,
    CallRefunded: true,
    CallCorrected: true,
    TopUpCompleted: true,
    TopUpRefunded: true,
    TopUpDisputed: true,
    TopUpDisputeWon: true,
  },
  async project(tx, batch) {
    const { moved, charged } = walletChanges(batch);
    await insertRows(tx, 'wallet_movement', moved);
    await addToRows(tx, 'wallet_charge', ['user_id', 'quarter'], charged);
    const last = batch.at(-1);
    if (last !== undefined) await tx.updateTable('wallet_position').set({ position: last.position }).execute();
  },
});
