import { sql } from 'kysely';
import type { Position } from '../../../src/domain/events/events.js';
import type { UserId } from '../../../src/domain/kernel/ids.js';
import { nearestQuota, type Quota } from '../../../src/domain/kernel/quota.js';
import type { ReadModels } from '../../../src/projections/database.js';
import { type Account, availableOf, reservedOf } from '../../../src/projections/models/ledger/ledger.js';

/* What stands in the ledger, for whoever checks it. */

/** A user's balances: what may be spent, what calls under way hold, and both together. */
export interface WalletBalance {
  readonly available: Quota;
  readonly reserved: Quota;
  readonly total: Quota;
}

export async function balanceOf(db: ReadModels, user: UserId): Promise<WalletBalance> {
  const [available, reserved] = [availableOf(user), reservedOf(user)];
  const rows = await db
    .selectFrom('ledger_balance')
    .select(['account', sql<string>`balance::text`.as('exactly')])
    .where('account', 'in', [available, reserved])
    .execute();
  const of = (account: Account): bigint => BigInt(rows.find((row) => row.account === account)?.exactly ?? 0);
  return {
    available: nearestQuota(of(available)),
    reserved: nearestQuota(of(reserved)),
    total: nearestQuota(of(available) + of(reserved)),
  };
}

export const allBalances = (db: ReadModels): Promise<{ account: Account; balance: Quota }[]> =>
  db.selectFrom('ledger_balance').selectAll().orderBy('account').execute();

export interface TrialBalance {
  /** Of all balances: 0, or the ledger is wrong. */
  readonly sum: number;
  readonly accounts: number;
  /** Of all users together. */
  readonly available: number;
  readonly reserved: number;
}

export const trialBalance = (db: ReadModels): Promise<TrialBalance> =>
  db
    .selectFrom('ledger_balance')
    .select([
      sql<number>`coalesce(sum(balance), 0)`.as('sum'),
      sql<number>`count(*)`.as('accounts'),
      sql<number>`coalesce(sum(balance) filter (where account like 'user:%:available'), 0)`.as('available'),
      sql<number>`coalesce(sum(balance) filter (where account like 'user:%:reserved'), 0)`.as('reserved'),
    ])
    .executeTakeFirstOrThrow();

/** Movements other than settled calls, newest first, older than `before`. */
export const postingsOf = (
  db: ReadModels,
  account: Account,
  { before, limit }: { readonly before?: Position; readonly limit: number },
) => {
  const postings = db.selectFrom('ledger_posting').selectAll().where('account', '=', account);
  return (before === undefined ? postings : postings.where('position', '<', before))
    .orderBy('position', 'desc')
    .limit(limit)
    .execute();
};
