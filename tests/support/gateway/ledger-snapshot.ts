import { expect } from 'vitest';
import { type CommandDatabase, withDatabase } from '../../../src/cli/database.js';
import type { Config } from '../../../src/config.js';
import type {
  CallFacts,
  CallRefunded,
  CallReleased,
  CallReserved,
  CallSettled,
  TakenBack,
} from '../../../src/domain/call/call.js';
import type { CallCorrected } from '../../../src/domain/call/call-correction.js';
import { usedAnything } from '../../../src/domain/call/usage.js';
import { beginning, type Recorded, streamKey } from '../../../src/domain/events/events.js';
import type { UserId } from '../../../src/domain/kernel/ids.js';
import { wantedChannel } from '../../../src/projections/engine/projector-connection.js';
import { listReadModels } from '../../../src/projections/engine/rebuild.js';
import { isSound, verifyLedger } from '../../../src/projections/models/ledger/verify-ledger.js';
import { logTypes } from '../../../src/projections/models/usage-log/usage-log.js';
import { rowKinds } from '../../../src/projections/models/usage-stats/usage-sums.js';
import { openReadModels } from '../../../src/projections/read-models.js';
import { allBalances, trialBalance } from '../postgres/ledger-reads.js';
import { quietLog } from '../quiet-log.js';
import { until } from '../until.js';

/*
 * The books as an auditor keeps them: summed from the log here, by none of the code that is being checked, and held
 * against every table that claims to know the same.
 */

/** What the log says about one call. */
export interface CallEvents {
  readonly reserved: CallReserved[];
  readonly settled: CallSettled[];
  readonly released: CallReleased[];
  readonly refunded: CallRefunded[];
  readonly corrected: CallCorrected[];
}

interface Account {
  given: number;
  charged: number;
  /** Settled calls that used anything and were not refunded. */
  calls: number;
}

export interface LedgerSnapshot {
  readonly events: readonly Recorded[];
  /** By request id. */
  readonly calls: ReadonlyMap<string, CallEvents>;
  readonly users: ReadonlyMap<number, Account>;
  readonly apiKeys: ReadonlyMap<number, Account>;
  readonly channels: ReadonlyMap<number, number>;
}

const pageSize = 5_000;
/** ms: long enough for a gateway that has just started on a busy machine. */
const patience = 60_000;

export async function readLog({ store }: Pick<CommandDatabase, 'store'>): Promise<Recorded[]> {
  const events: Recorded[] = [];
  for (;;) {
    const page = await store.readAll(events.at(-1)?.position ?? beginning, pageSize);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

const accountOf = (accounts: Map<number, Account>, id: number): Account => {
  const account = accounts.get(id) ?? { given: 0, charged: 0, calls: 0 };
  accounts.set(id, account);
  return account;
};

export function ledgerOf(events: readonly Recorded[]): LedgerSnapshot {
  const calls = new Map<string, CallEvents>();
  const users = new Map<number, Account>();
  const apiKeys = new Map<number, Account>();
  const channels = new Map<number, number>();
  const storyOf = (recorded: Recorded): CallEvents => {
    const none = { reserved: [], settled: [], released: [], refunded: [], corrected: [] };
    const story = calls.get(streamKey(recorded.stream)) ?? none;
    calls.set(streamKey(recorded.stream), story);
    return story;
  };
  const pay = (facts: CallFacts, { charged, usage, channelId }: CallSettled | TakenBack, sign: 1 | -1): void => {
    const payers = [accountOf(users, facts.userId)];
    if (facts.apiKeyId !== null) payers.push(accountOf(apiKeys, facts.apiKeyId));
    for (const payer of payers) {
      payer.charged += sign * charged;
      if (usedAnything(usage)) payer.calls += sign;
    }
    channels.set(channelId, (channels.get(channelId) ?? 0) + sign * charged);
  };
  for (const recorded of events) {
    const { event, stream } = recorded;
    const id = Number(streamKey(stream));
    if (event.type === 'QuotaGranted') accountOf(users, id).given += event.quota;
    else if (event.type === 'InviteRewardTransferred') accountOf(users, id).given += event.quota;
    else if (event.type === 'QuotaAdjusted') accountOf(users, id).given += event.delta;
    else if (event.type === 'TopUpCompleted') accountOf(users, event.user).given += event.quota;
    else if (event.type === 'TopUpRefunded' || event.type === 'TopUpDisputed')
      accountOf(users, event.user).given -= event.quota;
    else if (event.type === 'TopUpDisputeWon') accountOf(users, event.user).given += event.quota;
    else if (event.type === 'RedemptionCodeRedeemed') accountOf(users, event.user).given += event.quota;
    else if (event.type === 'ApiKeyIssued') accountOf(apiKeys, id).given += event.quota;
    else if (event.type === 'ApiKeyEdited') accountOf(apiKeys, id).given += event.quotaDelta;
    else if (event.type === 'CallReserved') storyOf(recorded).reserved.push(event);
    else if (event.type === 'CallReleased') storyOf(recorded).released.push(event);
    else if (event.type === 'CallSettled') {
      storyOf(recorded).settled.push(event);
      pay(event.facts, event, 1);
    } else if (event.type === 'CallRefunded') {
      storyOf(recorded).refunded.push(event);
      pay(event.facts, event.settlement, -1);
    } else if (event.type === 'CallCorrected') {
      const { facts, settlement, from, to } = event;
      storyOf(recorded).corrected.push(event);
      const more = to.charged - from.charged;
      accountOf(users, facts.userId).charged += more;
      if (facts.apiKeyId !== null) accountOf(apiKeys, facts.apiKeyId).charged += more;
      channels.set(settlement.channelId, (channels.get(settlement.channelId) ?? 0) + more);
    }
  }
  return { events, calls, users, apiKeys, channels };
}

/** Once every reserved call has its outcome and every read model has the whole log, which takes a gateway that runs. */
export const ledgerAtRest = (database: CommandDatabase): Promise<LedgerSnapshot> =>
  until(async () => {
    const books = ledgerOf(await readLog(database));
    const open = [...books.calls.values()].some(({ settled, released }) => settled.length + released.length === 0);
    const head = books.events.at(-1)?.position ?? beginning;
    // Asks as another node would: a read model with nothing to fold moves its checkpoint only now and then.
    await database.pool.query('select pg_notify($1, $2)', [wantedChannel, String(head)]);
    const models = await listReadModels(database.pool, database.store);
    return !open && models.every((model) => model.head === head && model.position === head) ? books : null;
  }, patience);

/** What it was corrected to last; else what it was settled with. */
const standing = ({ settled, corrected }: CallEvents) => corrected.at(-1)?.to ?? settled[0];

const balanceOf = ({ given, charged }: Account): number => given - charged;

/** The user's balance by the log. */
export const ownedBy = ({ users }: LedgerSnapshot, id: UserId): number =>
  balanceOf(users.get(id) ?? { given: 0, charged: 0, calls: 0 });

/** Every call ended once; every balance, sum and total is what the log adds up to; nothing is held. */
export async function expectLedgersToAgree({ pool, store }: CommandDatabase, books: LedgerSnapshot): Promise<void> {
  for (const [requestId, story] of books.calls) {
    const { reserved, settled, released, refunded } = story;
    expect([requestId, reserved.length, settled.length + released.length]).toEqual([requestId, 1, 1]);
    expect([requestId, refunded.length]).toEqual([requestId, Math.min(refunded.length, settled.length)]);
    for (const { settlement } of refunded)
      expect([settlement]).toMatchObject(
        settled.map(({ usage, channelId }) => ({ charged: standing(story)?.charged, usage, channelId })),
      );
  }

  const db = openReadModels(pool);
  expect(await trialBalance(db)).toMatchObject({ sum: 0, reserved: 0 });
  const verdict = await verifyLedger(db, store);
  expect(verdict.differences).toEqual([]);
  expect(isSound(verdict)).toBe(true);

  const ledger = new Map<string, number>((await allBalances(db)).map(({ account, balance }) => [account, balance]));
  const stories = [...books.calls.values()];
  const paid = stories.filter(({ settled, refunded }) => settled.length > 0 && refunded.length === 0);
  const charged = paid.reduce((sum, story) => sum + (standing(story)?.charged ?? 0), 0);
  const suspense = stories
    .flatMap(({ settled, released, refunded }) => [...settled, ...released, ...refunded])
    .reduce((sum, event) => sum + event.suspense, 0);
  const uncovered = stories.reduce((sum, story) => sum + (standing(story)?.uncovered ?? 0), 0);
  expect((ledger.get('revenue') ?? 0) + (ledger.get('suspense') ?? 0)).toBe(charged);
  expect(ledger.get('suspense') ?? 0).toBe(suspense + uncovered);

  const users = await db.selectFrom('users').selectAll().execute();
  for (const { id, quota, used_quota, request_count } of users) {
    const account = books.users.get(id) ?? { given: 0, charged: 0, calls: 0 };
    expect({ user: id, quota, used_quota, request_count }).toEqual({
      user: id,
      quota: balanceOf(account),
      used_quota: account.charged,
      request_count: account.calls,
    });
    expect([id, ledger.get(`user:${id}:available`) ?? 0]).toEqual([id, balanceOf(account)]);
  }

  for (const { id, remain_quota, used_quota } of await db.selectFrom('api_keys').selectAll().execute()) {
    const account = books.apiKeys.get(id) ?? { given: 0, charged: 0, calls: 0 };
    expect({ apiKey: id, remain_quota, used_quota }).toEqual({
      apiKey: id,
      remain_quota: balanceOf(account),
      used_quota: account.charged,
    });
  }

  for (const { id, used_quota } of await db.selectFrom('channels').selectAll().execute())
    expect([id, used_quota]).toEqual([id, books.channels.get(id) ?? 0]);

  const lines = await db
    .selectFrom('usage_log')
    .select(['request_id', 'type', 'quota'])
    .where('type', 'in', [logTypes.consume, logTypes.system])
    .where('request_id', 'is not', null)
    .execute();
  const charges = lines.filter(({ type }) => type === logTypes.consume);
  const logged = new Map(charges.map(({ request_id, quota }) => [request_id, quota]));
  // The charge of a task stays in the log when the task fails; its refund has a line of its own, as corrections have.
  const refundedTasks = [...books.calls].filter(([, { refunded }]) => refunded.some(({ task }) => task !== undefined));
  const count = paid.length + refundedTasks.length;
  expect([logged.size, charges.length]).toEqual([count, count]);
  const refundLines = lines.flatMap(({ type, request_id }) => (type === logTypes.system ? [String(request_id)] : []));
  const corrections = [...books.calls].flatMap(([requestId, { corrected }]) => corrected.map(() => requestId));
  expect(refundLines.sort()).toEqual([...refundedTasks.map(([requestId]) => requestId), ...corrections].sort());
  for (const [requestId, quota] of logged) {
    const story = books.calls.get(String(requestId));
    expect([requestId, story && standing(story)?.charged]).toEqual([requestId, quota]);
  }

  const { requests, total } = (await db
    .selectFrom('usage_stats')
    .select(({ fn }) => [fn.sum('requests').as('requests'), fn.sum('quota').as('total')])
    .where('counted', '!=', rowKinds.channelTests)
    .executeTakeFirstOrThrow()) as { requests: number | string | null; total: number | string | null };
  expect([Number(requests), Number(total)]).toEqual([paid.length, charged]);
}

/** What the log says of the newest call, once all calls have their outcome; the books agree. */
export const newestCall = (config: Config): Promise<CallEvents> =>
  withDatabase(config, quietLog, async (database) => {
    const books = await ledgerAtRest(database);
    await expectLedgersToAgree(database, books);
    const story = [...books.calls.values()].at(-1);
    if (story === undefined) throw new Error('there was no call');
    return story;
  });
