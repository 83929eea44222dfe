import { type Position, type StreamName, streams } from '../../domain/events/events.js';
import type { Moment } from '../../domain/events/moment.js';
import { invalidField } from '../../domain/kernel/failure.js';
import {
  ApiKeyId,
  CallId,
  ChannelId,
  isCallId,
  PaymentId,
  RedemptionId,
  TaskId,
  UserId,
} from '../../domain/kernel/ids.js';
import type { MovementCause } from '../../domain/ledger/movements.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import { apiKeyById } from '../../projections/models/api-keys.js';
import { causeNumbers, plainMovements, quotaHistory } from '../../projections/models/quota-history/quota-history.js';
import {
  causeNamed,
  countersOf,
  type HistoryAccount,
  type HistoryCursor,
  type HistoryFilter,
  type Holding,
  holdingAt,
  type QuotaMovement,
  quotaMovements,
} from '../../projections/models/quota-history/quota-history-queries.js';
import { tasksByIds } from '../../projections/models/task-queries.js';
import { authorise, mayDo } from '../authorise.js';
import { type ConsistencyPorts, waitForHead } from '../consistency.js';
import type { EventStore } from '../ports/storage-ports.js';

/* The history of quota: every movement of an account, in order, with what it held then. */

export const auditedKinds = ['user', 'api-key', 'channel', 'code', 'payment', 'task', 'call'] as const;
export type AuditedKind = (typeof auditedKinds)[number];

/** Of a user, an API key or a channel the account; of the others what they moved. */
export interface Audited {
  readonly kind: AuditedKind;
  readonly id: string;
}

interface HistoryStore {
  readonly db: ReadModels;
  readonly store: Pick<EventStore, 'streamPages'>;
}

interface HistoryAsked {
  readonly of: Audited;
  readonly filter: HistoryFilter;
  readonly order: 'oldest' | 'newest';
  readonly after: HistoryCursor | null;
  readonly first: number;
  /** Of what moved something of several, only what was theirs; missing: all. */
  readonly ownedBy?: UserId;
}

const none: Holding = { available: 0n, reserved: 0n, invites: 0n };
/** More than any code, payment, task or call has. */
const maxEvents = 1_000;

const sum = (one: Holding, other: Holding): Holding => ({
  available: one.available + other.available,
  reserved: one.reserved + other.reserved,
  invites: one.invites + other.invites,
});

/** The account that is kept, of those that have one. Throws `invalid-field`. */
function accountOf({ kind, id }: Audited): HistoryAccount | null {
  switch (kind) {
    case 'user':
      return { owner: kind, id: UserId(id) };
    case 'api-key':
      return { owner: kind, id: ApiKeyId(id) };
    case 'channel':
      return { owner: kind, id: ChannelId(id) };
    default:
      return null;
  }
}

/** The stream whose events have moved it; null: there is none. Throws `invalid-field`. */
async function streamOf(db: ReadModels, { kind, id }: Audited): Promise<StreamName | null> {
  switch (kind) {
    case 'code':
      return streams.redemption(RedemptionId(id));
    case 'payment':
      return streams.payment(PaymentId(id));
    case 'task': {
      const [task] = await tasksByIds(db, [TaskId(id)]);
      return task === undefined ? null : streams.call(task.call_id);
    }
    default:
      if (!isCallId(id)) throw invalidField('id', 'the id of a request');
      return streams.call(CallId(id));
  }
}

/** What the events of one thing have moved; the balance is what it has given to its user by then. */
async function movementsInStream({ db, store }: HistoryStore, of: Audited): Promise<QuotaMovement[]> {
  const stream = await streamOf(db, of);
  if (stream === null) return [];
  const found: QuotaMovement[] = [];
  let balance = none;
  let events = 0;
  for await (const page of store.streamPages(stream)) {
    for (const recorded of page)
      for (const { position, part, at, cause, beside, ...row } of plainMovements(recorded)) {
        const change = {
          available: BigInt(row.available),
          reserved: BigInt(row.reserved),
          invites: BigInt(row.invites),
        };
        balance = sum(balance, change);
        found.push({
          position,
          part,
          at,
          cause: causeNamed(cause),
          change,
          balance,
          counters: countersOf(causeNamed(cause), row, beside),
          userId: row.user_id,
          apiKeyId: row.api_key_id,
          channelId: row.channel_id,
          by: row.by_user,
          subject: row.subject,
        });
      }
    events += page.length;
    if (events >= maxEvents) break;
  }
  return found;
}

const isWithin = ({ causes, from, to }: HistoryFilter, { cause, at }: QuotaMovement): boolean =>
  (causes === null || causes.includes(cause)) && (from === null || at >= from) && (to === null || at < to);

const isBehind = (
  { order, after }: Pick<HistoryAsked, 'order' | 'after'>,
  { position, part }: QuotaMovement,
): boolean => {
  if (after === null) return true;
  if (position === after.position) return order === 'oldest' ? part > after.part : part < after.part;
  return order === 'oldest' ? position > after.position : position < after.position;
};

/** Up to `upTo`; null: all there are. */
export async function historyPage(
  { db, store }: HistoryStore,
  { of, filter, order, after, first, ownedBy }: HistoryAsked,
  upTo: Position | null,
): Promise<QuotaMovement[]> {
  if (filter.causes?.length === 0) throw invalidField('causes', `some of ${Object.keys(causeNumbers).join(', ')}`);
  const account = accountOf(of);
  if (account !== null) return quotaMovements(db, account, filter, { order, after, upTo, limit: first });
  const moved = await movementsInStream({ db, store }, of);
  const all = ownedBy === undefined ? moved : moved.filter(({ userId }) => userId === ownedBy);
  const inOrder = order === 'oldest' ? all : all.reverse();
  return inOrder.filter((row) => isWithin(filter, row) && isBehind({ order, after }, row)).slice(0, first);
}

interface WholeHistory {
  /** What came later is left out; null: nothing is. */
  readonly upTo: Position | null;
  readonly ownedBy?: UserId;
  readonly perPage?: number;
}

const movementsPerPage = 1_000;

/** Oldest first, page by page; whoever reads no further asks the database no further. */
export async function* historyPages(
  stored: HistoryStore,
  of: Audited,
  filter: HistoryFilter,
  { upTo, ownedBy, perPage = movementsPerPage }: WholeHistory,
): AsyncGenerator<readonly QuotaMovement[], void, undefined> {
  let after: HistoryCursor | null = null;
  for (;;) {
    const asked: HistoryAsked = { of, filter, order: 'oldest', after, first: perPage };
    const own = ownedBy === undefined ? {} : { ownedBy };
    const page: readonly QuotaMovement[] = await historyPage(stored, { ...asked, ...own }, upTo);
    yield page;
    after = page.at(-1) ?? null;
    if (after === null || page.length < perPage) return;
  }
}

/** What an account held; of a code, a payment, a task or a call what it had given to its user. */
export async function auditedBalance(stored: HistoryStore, of: Audited, moment: Moment): Promise<Holding> {
  const account = accountOf(of);
  if (account !== null) return holdingAt(stored.db, account, moment);
  const before = (await movementsInStream(stored, of)).filter(({ at, position }) =>
    'at' in moment ? at <= moment.at : position <= moment.position,
  );
  return before.at(-1)?.balance ?? none;
}

/** Writing so many takes some milliseconds, in which nobody else has the process. */
const exportedPerPage = 250;

interface AuditPorts extends ConsistencyPorts, HistoryStore {}

/** Of all there are, by their names. Throws `invalid-field`. */
export function causesNamed(names: readonly string[], field = 'causes'): MovementCause[] {
  return names.map((name) => {
    if (!Object.hasOwn(causeNumbers, name))
      throw invalidField(field, `some of ${Object.keys(causeNumbers).join(', ')}`);
    return name as MovementCause;
  });
}

/**
 * Users are not told by which channels they were served, nor what a call of theirs has cost the house: what lies in
 * suspense is counted with the revenue, so that the sum is zero.
 */
function shownToOwner(movement: QuotaMovement): QuotaMovement {
  const suspense = movement.counters.find(({ account }) => account === 'suspense')?.amount ?? 0n;
  const counters = movement.counters
    .filter(({ account }) => account !== 'suspense')
    .map((entry) => (entry.account === 'revenue' ? { ...entry, amount: entry.amount + suspense } : entry));
  return { ...movement, channelId: null, by: null, counters };
}

export function quotaHistoryQueries(ports: AuditPorts) {
  const { db, store } = ports;

  /** Everybody sees what is their own; channels are for those who may read everything. Throws `role-too-low`. */
  const demandVisible = async (viewer: Actor, of: Audited): Promise<void> => {
    if (mayDo(viewer, 'admin-reading')) return;
    if (of.kind === 'user' && UserId(of.id) === viewer.id) return;
    if (of.kind === 'api-key' && (await apiKeyById(db, ApiKeyId(of.id)))?.owner_id === viewer.id) return;
    if (of.kind !== 'user' && of.kind !== 'api-key' && of.kind !== 'channel') {
      const moved = await movementsInStream(ports, of);
      if (moved.some(({ userId }) => userId === viewer.id)) return;
    }
    authorise(viewer, 'admin-reading');
  };
  const shownTo = (viewer: Actor, movement: QuotaMovement): QuotaMovement =>
    mayDo(viewer, 'admin-reading') ? movement : shownToOwner(movement);

  const ready = async (viewer: Actor, of: Audited): Promise<Position> => {
    const upTo = await waitForHead(ports, [quotaHistory.name]);
    await demandVisible(viewer, of);
    return upTo;
  };

  return {
    /** A page of movements. Throws `role-too-low`, and `store-unavailable` while the history is being rebuilt. */
    async quotaHistory(
      viewer: Actor,
      asked: HistoryAsked,
    ): Promise<{ readonly items: readonly QuotaMovement[]; readonly hasMore: boolean }> {
      const upTo = await ready(viewer, asked.of);
      const own = mayDo(viewer, 'admin-reading') ? {} : { ownedBy: viewer.id };
      const found = await historyPage({ db, store }, { ...asked, ...own, first: asked.first + 1 }, upTo);
      const items = found.slice(0, asked.first).map((movement) => shownTo(viewer, movement));
      return { items, hasMore: found.length > asked.first };
    },

    /** The whole, oldest first, up to now. Throws as `quotaHistory` does. */
    async exportedHistory(
      viewer: Actor,
      of: Audited,
      filter: HistoryFilter,
    ): Promise<AsyncGenerator<readonly QuotaMovement[], void, undefined>> {
      const upTo = await ready(viewer, of);
      const own = mayDo(viewer, 'admin-reading') ? {} : { ownedBy: viewer.id };
      const pages = historyPages({ db, store }, of, filter, { upTo, ...own, perPage: exportedPerPage });
      return (async function* () {
        for await (const page of pages) yield page.map((movement) => shownTo(viewer, movement));
      })();
    },

    async balanceAt(viewer: Actor, of: Audited, moment: Moment): Promise<Holding> {
      await ready(viewer, of);
      return auditedBalance({ db, store }, of, moment);
    },
  };
}
