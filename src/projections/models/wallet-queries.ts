import { type RawBuilder, sql } from 'kysely';
import type { Position } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { MovementCause } from '../../domain/ledger/movements.js';
import type { ReadModels } from '../database.js';
import { schemaOf } from '../engine/projection.js';
import { wallets } from './wallets.js';

/** From the first instant to before the second one; both begin a quarter of an hour. */
interface Range {
  readonly from: Instant;
  readonly to: Instant;
}

/** What a quarter of an hour of calls cost. */
interface QuarterCharges {
  /** Unix seconds. */
  readonly quarter: number;
  readonly calls: number;
  /** Negative. */
  readonly amount: bigint;
}

/** A wallet over a time, as of one position of the log. */
export interface WalletRange {
  readonly position: Position;
  readonly opening: bigint;
  /** Those of the range, in order: 2,976 at most in a month. */
  readonly charges: readonly QuarterCharges[];
}

export interface WalletMovement {
  readonly at: Instant;
  readonly position: Position;
  readonly cause: MovementCause;
  readonly amount: bigint;
}

interface Snapshot {
  readonly position: Position;
  readonly whole: boolean;
}

/** Whether `folded`, which is `wallet_position`, is of the version that this release reads. */
const inOneSchema = sql`
  (select relnamespace from pg_catalog.pg_class where oid = folded.tableoid)
    = (select oid from pg_catalog.pg_namespace where nspname = ${schemaOf(wallets)})
`;

/** One statement, so one snapshot; asked again where a rebuilt read model was swapped in meanwhile, as in the ledger. */
async function snapshot<Found extends Snapshot>(db: ReadModels, statement: RawBuilder<Found>): Promise<Found> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const { rows } = await statement.execute(db);
    const [found] = rows;
    if (found?.whole) return found;
  }
  throw new Error('The wallets are being rebuilt over and over: no snapshot in 10 attempts');
}

export async function walletOver(db: ReadModels, user: UserId, { from, to }: Range): Promise<WalletRange> {
  const [first, last] = [from / 1000, to / 1000];
  interface Found extends Snapshot {
    readonly opening: string;
    readonly charges: readonly { readonly quarter: number; readonly calls: number; readonly amount: string }[];
  }
  const { position, opening, charges } = await snapshot(
    db,
    sql<Found>`
      select folded.position, ${inOneSchema} as whole,
        (
          (select coalesce(sum(amount), 0) from wallet_movement where user_id = ${user} and at < ${from})
          + (select coalesce(sum(amount), 0) from wallet_charge where user_id = ${user} and quarter < ${first})
        )::text as opening,
        (
          select coalesce(
            json_agg(json_build_object('quarter', quarter, 'calls', calls, 'amount', amount::text) order by quarter), '[]'
          )
          from wallet_charge where user_id = ${user} and quarter >= ${first} and quarter < ${last}
        ) as charges
      from wallet_position folded
    `,
  );
  return {
    position,
    opening: BigInt(opening),
    charges: charges.map(({ quarter, calls, amount }) => ({ quarter, calls, amount: BigInt(amount) })),
  };
}

/** What every wallet has; null: the read model has not been built yet. */
export async function walletBalances(
  db: ReadModels,
): Promise<{ readonly position: Position; readonly balances: ReadonlyMap<UserId, bigint> } | null> {
  const { rows } = await sql`select from pg_catalog.pg_namespace where nspname = ${schemaOf(wallets)}`.execute(db);
  if (rows.length === 0) return null;
  interface Found extends Snapshot {
    readonly balances: readonly (readonly [UserId, string])[];
  }
  // Amounts come as text: a number in JSON ends at 2^53.
  const { position, balances } = await snapshot(
    db,
    sql<Found>`
      select folded.position, ${inOneSchema} as whole,
        (
          select coalesce(json_agg(json_build_array(user_id, balance::text)), '[]')
          from (
            select user_id, sum(amount) as balance
            from (
              select user_id, amount from wallet_movement union all select user_id, amount from wallet_charge
            ) changes
            group by user_id
          ) wallets
        ) as balances
      from wallet_position folded
    `,
  );
  return { position, balances: new Map(balances.map(([user, balance]) => [user, BigInt(balance)])) };
}

/** Up to the position, which makes it the snapshot's though read later: rows never change. In order, behind `after`. */
export async function walletMovements(
  db: ReadModels,
  user: UserId,
  { from, to }: Range,
  page: {
    readonly upTo: Position;
    readonly after: Pick<WalletMovement, 'at' | 'position'> | null;
    readonly limit: number;
  },
): Promise<WalletMovement[]> {
  let rows = db
    .selectFrom('wallet_movement')
    .select(['at', 'position', 'cause', sql<string>`amount::text`.as('amount')])
    .where('user_id', '=', user)
    .where('at', '>=', from)
    .where('at', '<', to)
    .where('position', '<=', page.upTo);
  const { after } = page;
  if (after !== null) rows = rows.where(sql<boolean>`(at, position) > (${after.at}, ${after.position})`);
  const found = await rows.orderBy('at').orderBy('position').limit(page.limit).execute();
  return found.map(({ amount, ...movement }) => ({ ...movement, amount: BigInt(amount) }));
}
