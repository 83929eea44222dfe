import type { Selectable } from 'kysely';
import { type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { assertNever } from '../../domain/kernel/failure.js';
import { PaymentId, type UserId } from '../../domain/kernel/ids.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import { minus, Quota, zero } from '../../domain/kernel/quota.js';
import type { ExpiryReason, Learned, PaymentEvent, PaymentProviderName } from '../../domain/payment/payment.js';
import { putRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';

/* Orders of quota for money. Times are unix seconds. */

export type PaymentStatus = 'open' | 'completed' | 'expired';

export interface PaymentTables {
  payments: {
    id: PaymentId;
    user_id: UserId;
    provider: PaymentProviderName;
    method: string;
    status: PaymentStatus;
    /** As asked for. */
    amount: number;
    quota: Quota;
    /** Decimal text with two places. */
    money: string;
    currency: string;
    /** What the provider calls its checkout; null: it knows the order by our number. */
    session: string | null;
    /** The provider's own number of the payment; '' : none is known. */
    reference: string;
    /** null: it is not completed. */
    learned: Learned['by'] | null;
    /** Who completed it by hand, and why. */
    completed_by: UserId | null;
    reason: string | null;
    /** Completed after it had expired. */
    late: boolean;
    /** All that was refunded of the money; null: nothing. */
    refunded: string | null;
    /** By which the money is gone, as they are not won. */
    disputes: number;
    /** Of the quota, for money that has gone back. */
    taken_back: Quota;
    /** null: it has not. */
    expiry: ExpiryReason | null;
    created_at: number;
    /** When its status last changed. */
    changed_at: number;
    /** Of the order; newest first is by it. */
    position: Position;
  };
}

export type PaymentRow = Selectable<PaymentTables['payments']>;

const tables = `
  create table payments (
    id text primary key,
    user_id bigint not null,
    provider text not null,
    method text not null,
    status text not null,
    amount bigint not null,
    quota bigint not null,
    money text not null,
    currency text not null,
    session text,
    reference text not null,
    learned text,
    completed_by bigint,
    reason text,
    late boolean not null,
    expiry text,
    refunded text,
    disputes integer not null,
    taken_back bigint not null,
    created_at bigint not null,
    changed_at bigint not null,
    position bigint not null
  );
  create index payments_newest on payments (position);
  create index payments_user on payments (user_id, position);
  create index payments_session on payments (session) where session is not null;
  create index payments_open on payments (position) where status = 'open';
`;

export const payments = projection<PaymentEvent>({
  name: 'payments',
  version: 3,
  purpose: 'showing',
  tables,
  interestedIn: {
    TopUpRequested: true,
    TopUpBegun: true,
    TopUpCompleted: true,
    TopUpExpired: true,
    TopUpRefunded: true,
    TopUpDisputed: true,
    TopUpDisputeWon: true,
  },
  async project(tx, batch) {
    const ids = [...new Set(batch.map(({ stream }) => PaymentId(streamKey(stream))))];
    const stored = await tx.selectFrom('payments').selectAll().where('id', 'in', ids).execute();
    const rows = new Map<PaymentId, PaymentRow>(stored.map((row) => [row.id, row]));
    for (const recorded of batch) {
      const id = PaymentId(streamKey(recorded.stream));
      const row = evolve(rows.get(id), id, recorded);
      if (row !== undefined) rows.set(id, row);
    }
    await putRows(tx, 'payments', ['id'], [...rows.values()]);
  },
});

function evolve(
  row: PaymentRow | undefined,
  id: PaymentId,
  { event, at, position }: Recorded<PaymentEvent>,
): PaymentRow | undefined {
  const seconds = unixSeconds(at);
  if (event.type === 'TopUpRequested') {
    const { user, provider, method, amount, quota, money, prices } = event;
    return {
      id,
      user_id: user,
      provider,
      method,
      status: 'open',
      amount,
      quota,
      money,
      currency: prices.currency,
      session: null,
      reference: '',
      learned: null,
      completed_by: null,
      reason: null,
      late: false,
      expiry: null,
      refunded: null,
      disputes: 0,
      taken_back: zero,
      created_at: seconds,
      changed_at: seconds,
      position,
    };
  }
  if (row === undefined) return undefined;
  switch (event.type) {
    case 'TopUpCompleted': {
      const { reference, learned, late } = event;
      const byHand = learned.by === 'hand' ? learned : null;
      return {
        ...row,
        status: 'completed',
        reference,
        learned: learned.by,
        completed_by: byHand?.user ?? null,
        reason: byHand?.reason ?? null,
        late,
        changed_at: seconds,
      };
    }
    case 'TopUpBegun':
      return { ...row, session: event.session };
    case 'TopUpExpired':
      return { ...row, status: 'expired', expiry: event.reason, changed_at: seconds };
    case 'TopUpRefunded':
      return {
        ...row,
        refunded: event.refunded,
        taken_back: Quota(row.taken_back + event.quota),
        changed_at: seconds,
      };
    case 'TopUpDisputed':
      return {
        ...row,
        disputes: row.disputes + 1,
        taken_back: Quota(row.taken_back + event.quota),
        changed_at: seconds,
      };
    case 'TopUpDisputeWon':
      return {
        ...row,
        disputes: row.disputes - 1,
        taken_back: minus(row.taken_back, event.quota),
        changed_at: seconds,
      };
    default:
      return assertNever(event);
  }
}
