import { sql } from 'kysely';
import type { Position } from '../../domain/events/events.js';
import type { PaymentId, UserId } from '../../domain/kernel/ids.js';
import type { ReadModels } from '../database.js';
import { counted, offsetOf, type Page, type PageRequest } from '../engine/page.js';
import type { PaymentRow, PaymentStatus } from './payments.js';

/* What is asked of the orders of quota for money. */

export interface PaymentFilter {
  readonly userId?: UserId;
  readonly status?: PaymentStatus;
  /** The whole trade number. */
  readonly id?: string;
}

const matching = (db: ReadModels, { userId, status, id }: PaymentFilter) => {
  let found = db.selectFrom('payments');
  if (userId !== undefined) found = found.where('user_id', '=', userId);
  if (status !== undefined) found = found.where('status', '=', status);
  if (id !== undefined) found = found.where('id', '=', id as PaymentId);
  return found;
};

/** Newest first. */
export async function paymentPage(
  db: ReadModels,
  request: PageRequest,
  filter: PaymentFilter = {},
): Promise<Page<PaymentRow>> {
  const found = matching(db, filter);
  const items = await found
    .selectAll()
    .orderBy('position', 'desc')
    .limit(request.size)
    .offset(offsetOf(request))
    .execute();
  return { items, count: () => counted(found.select(sql<number>`count(*)`.as('total'))) };
}

export const paymentById = (db: ReadModels, id: PaymentId): Promise<PaymentRow | undefined> =>
  db.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst();

export const paymentBySession = (db: ReadModels, session: string): Promise<PaymentRow | undefined> =>
  db.selectFrom('payments').selectAll().where('session', '=', session).executeTakeFirst();

/** How many are open, and which of `ids` there are at all. */
export async function countOpenPayments(
  db: ReadModels,
  user: UserId,
  ids: readonly PaymentId[],
): Promise<{ live: number; known: readonly PaymentId[] }> {
  const { rows } = await sql<{ live: number; known: PaymentId[] }>`
    select count(*) filter (where status = 'open') as live,
      coalesce(json_agg(id) filter (where id = any(${ids}::text[])), '[]') as known
    from payments where user_id = ${user}`.execute(db);
  return rows[0] ?? { live: 0, known: [] };
}

/** Ordered behind `after`, oldest first. */
export const pendingPayments = (
  db: ReadModels,
  after: Position,
  max: number,
): Promise<Pick<PaymentRow, 'id' | 'created_at' | 'position'>[]> =>
  matching(db, { status: 'open' })
    .select(['id', 'created_at', 'position'])
    .where('position', '>', after)
    .orderBy('position')
    .limit(max)
    .execute();
