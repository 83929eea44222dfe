import { describe, expect, test, vi } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import { beginning, type Position, streamKey } from '../../src/domain/events/events.js';
import { ApiKeyId, CallId, ChannelId, PaymentId, SecretId, TaskId, UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import type { ReadModels } from '../../src/projections/database.js';
import { lockForRebuilding } from '../../src/projections/engine/checkpoints.js';
import { type Projection, schemaOf } from '../../src/projections/engine/projection.js';
import { listReadModels, type RebuildOptions, rebuild } from '../../src/projections/engine/rebuild.js';
import { ledger } from '../../src/projections/models/ledger/ledger.js';
import { quotaSnapshot } from '../../src/projections/models/ledger/ledger-queries.js';
import { isSound, verifyLedger } from '../../src/projections/models/ledger/verify-ledger.js';
import { logTypes, usageLog } from '../../src/projections/models/usage-log/usage-log.js';
import { userById } from '../../src/projections/models/user-queries.js';
import { users } from '../../src/projections/models/users.js';
import { readModels } from '../../src/projections/read-models.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { eventId } from '../support/given/events.js';
import { taskFacts } from '../support/given/tasks.js';
import { until } from '../support/until.js';
import { counting, counts } from './counting.js';
import {
  added,
  adjusted,
  alice,
  aliceKey,
  at,
  bought,
  changedBy,
  cleared,
  codeIssued,
  corrected,
  correctedSettlement,
  east,
  edited,
  emailed,
  type Fact,
  furtherRefusals,
  granted,
  issued,
  ofApiKey,
  ofChannel,
  ofStrangers,
  ofTask,
  ofUser,
  option,
  pricesChanged,
  refunded,
  refused,
  registered,
  released,
  repaired,
  reserved,
  returned,
  root,
  sealed,
  settled,
  setUp,
  west,
  when,
} from './history.js';
import { forEachTest, hold, type Projected } from './projected.js';

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'dropped',
  'dense',
);

const again = (projection: Projection, options: Partial<RebuildOptions> = {}) =>
  rebuild({
    projection,
    feed: projected.store,
    pool: projected.pool,
    newClient: () => newClient(projected.database.connection),
    context: { personalData: projected.personalData },
    ...options,
  });

const userNumber = (n: number) => UserId(100 + (n % 5));
const keyNumber = (n: number) => ApiKeyId(200 + (n % 5));

/** A little of everything: people, keys, channels, and `calls` calls over two months that end in every way. */
function busyHistory(calls: number): Fact[] {
  const people = [0, 1, 2, 3, 4].flatMap((n) => [
    registered(userNumber(n), `user-${n}`),
    emailed(userNumber(n), `${n}@example.org`),
    granted(userNumber(n), 1_000_000),
    issued(keyNumber(n), userNumber(n), 500_000),
  ]);
  const tested = { model: 'm', promptTokens: 1, completionTokens: 1, quota: Quota(3), modelRatio: '1' };
  const changes = [
    setUp(root),
    registered(root, 'root', { role: 'root' }),
    added(east),
    added(west, { priority: 5, tag: 'eu' }),
    edited(east, { models: ['gpt-4o'], groups: ['default'] }),
    ofChannel(east, { type: 'ChannelBalanceObserved', balance: '12.5', becameLow: false }),
    ofChannel(west, { type: 'ChannelEnabled', automatic: false, by: root }),
    edited(west, { priority: 5, tag: 'asia' }),
    ofChannel(east, { type: 'ChannelBalanceObserved', balance: '3', becameLow: true }),
    ofChannel(east, { type: 'ChannelDisabled', automatic: true, reason: 'quota' }),
    ofChannel(west, {
      type: 'ChannelTested',
      ok: true,
      responseTimeMs: 55,
      error: null,
      usage: { ...tested, completionRatio: '1', modelPrice: null },
    }),
    option('RetryTimes', '3'),
    pricesChanged(root, { 'my-model': [{ call: '0.1' }] }),
    option('LogConsumeEnabled', 'true'),
    changedBy(root, 'SMTPToken', { secret: SecretId('smtp') }),
    adjusted(userNumber(1), -500, 0),
    adjusted(userNumber(2), 500, 50),
    ...bought(userNumber(2), 5_000_000, PaymentId('USR102NOx4Tk9b8305516274')),
    ...returned(userNumber(2), 5_000_000, PaymentId('USR102NOx4Tk9b8305516274')),
    codeIssued(1),
    ofUser(userNumber(3), { type: 'UserGroupChanged', group: 'vip', by: root }),
    ofApiKey(keyNumber(3), {
      type: 'ApiKeyEdited',
      owner: userNumber(3),
      quotaDelta: Quota(-5),
      terms: apiKeyTerms({ name: 'edited', budget: { quota: Quota(90_000), period: 'monthly' } }),
    }),
    ofApiKey(keyNumber(2), { type: 'ApiKeyRevoked', owner: userNumber(2), by: userNumber(1), name: 'leaked' }),
    ofApiKey(keyNumber(4), { type: 'ApiKeyDeleted', owner: userNumber(4) }),
  ];
  const refusals = [refused('refused-1'), refused('refused-2', ofStrangers), furtherRefusals(412)];
  return [...people, ...changes, ...callsFrom(0, calls), ...repaired(userNumber(1)), ...refusals];
}

/** One that succeeds, one that fails and is refunded, and one that goes on. */
function drawings(): Fact[] {
  return [1, 2, 3].flatMap((n) => {
    const callId = CallId(`drawing-${n}`);
    const facts = taskFacts({ taskId: TaskId(n), callId, userId: userNumber(n), apiKeyId: keyNumber(n) });
    const { userId, apiKeyId, platform, action, publicId } = facts;
    const task = { id: facts.taskId, platform, action, publicId };
    const paidBy = { facts: { userId, apiKeyId } };
    const begun = [
      reserved(callId, 50, paidBy),
      ofTask({ type: 'TaskSubmitted', facts, status: 'submitted', progress: 0 }),
      settled(callId, 50, 50, { ...paidBy, task }),
      ofTask({
        type: 'TaskProgressed',
        facts,
        status: 'in-progress',
        progress: 40,
        startedAt: Instant(1_800_000_000_000),
      }),
    ];
    const end = { facts, startedAt: null, finishedAt: null } as const;
    if (n === 1) return [...begun, ofTask({ type: 'TaskSucceeded', ...end })];
    if (n === 3) return begun;
    const refund = { callId, charged: Quota(50) };
    return [
      ...begun,
      ofTask({ type: 'TaskFailed', ...end, reason: 'upstream', refund, progress: 40 }),
      refunded(callId, 50, { ...paidBy, task: { ...task, reason: 'upstream' }, suspense: Quota(0) }),
    ];
  });
}

/** Calls number `from` and following; every seventh stays open, every fifth fails, one stretch is not logged. */
function callsFrom(from: number, count: number): Fact[] {
  return Array.from({ length: count }, (_, index) => from + index).flatMap((n) => {
    const facts = { userId: userNumber(n), apiKeyId: n % 4 === 0 ? null : keyNumber(n), model: `model-${n % 3}` };
    const instant = Instant(Date.UTC(2026, 0, 31, 23, 0, 0) + n * 60_000);
    const reservation = when(instant, reserved(`call-${n}`, 100 + n, { facts }));
    const switched = n % 50 === 30 ? [option('LogConsumeEnabled', n % 100 === 30 ? 'false' : 'true')] : [];
    if (n % 7 === 6) return [...switched, reservation];
    const outcome =
      n % 5 === 4
        ? released(`call-${n}`, 100 + n, { facts, suspense: Quota(n % 2 === 0 ? 100 + n : 0) })
        : settled(`call-${n}`, 100 + n, 50 + n, {
            facts,
            channelId: ChannelId(3 + (n % 2)),
            ...(n % 9 === 0 && {
              failedAttempts: [{ channelId: ChannelId(5), status: 503, code: 'busy', durationMs: n }],
            }),
            ...(n % 8 === 0 && { kept: [{ kind: 'response', id: `resp_${n % 64}` }] }),
          });
    const correction = (charged: number) =>
      n % 4 === 1
        ? [when(instant, corrected(`call-${n}`, charged, { facts, settlement: correctedSettlement(instant, n) }))]
        : [];
    if (outcome.event.type !== 'CallSettled') return [...switched, reservation, when(instant, outcome)];
    if (n % 11 !== 3) return [...switched, reservation, when(instant, outcome), ...correction(outcome.event.charged)];
    const { charged, usage, channelId, attempts, useTimeMs } = outcome.event;
    const settlement = { eventId: eventId(n), at: instant, charged, usage, channelId, attempts, useTimeMs };
    return [
      ...switched,
      reservation,
      when(instant, outcome),
      when(instant, refunded(`call-${n}`, charged, { facts, settlement })),
    ];
  });
}

/** The log is cleared after the first calls, of what happened in their first half hour and before. */
const clearedOnTheWay = (calls: number): Fact[] => [
  ...busyHistory(calls),
  ...drawings(),
  cleared(Instant(Date.UTC(2026, 0, 31, 23, 30, 15))),
  ...callsFrom(calls, calls),
];

/** Resolves once no row is left that nobody is shown. */
const tidied = () =>
  until(async () => {
    const { rows } = await projected.pool.query(
      `select from ${schemaOf(usageLog)}.usage_log join ${schemaOf(usageLog)}.usage_log_rules on created_at < cleared_before
       limit 1`,
    );
    return rows.length === 0 ? true : null;
  });

const dumpAll = async () =>
  Object.fromEntries(
    await Promise.all(readModels.map(async (model) => [model.name, await projected.dump(schemaOf(model))] as const)),
  );

const schemas = async () => {
  const { rows } = await projected.pool.query<{ name: string }>(
    `select nspname as name from pg_namespace where nspname ~ '_v\\d+' order by 1`,
  );
  return rows.map(({ name }) => name);
};

const tablesIn = async (schema: string) => {
  const { rows } = await projected.pool.query<{ name: string }>(
    'select tablename as name from pg_tables where schemaname = $1',
    [schema],
  );
  return rows.map(({ name }) => name);
};

describe('a rebuilt read model', () => {
  test('has the same rows, for every model', async () => {
    await projected.given(...clearedOnTheWay(75));
    await tidied();
    const before = await dumpAll();
    for (const projection of readModels) await again(projection, { pageSize: 37 });
    expect(await dumpAll()).toEqual(before);
    for (const [name, tables] of Object.entries(before))
      expect(Object.values(tables).flat().length, `rows of ${name}`).toBeGreaterThan(0);
    expect(await schemas()).toEqual(readModels.map(schemaOf).sort());
  });

  test('has the same rows when it was folded event by event the first time', async () => {
    const runner = await projected.start({ pace: { batchSize: 1 } });
    await projected.record(...clearedOnTheWay(20));
    await hold(runner, await projected.store.head());
    await tidied();
    const before = await dumpAll();
    for (const projection of readModels) await again(projection);
    expect(await dumpAll()).toEqual(before);
  });

  test('contains a deleted user as before, though the user’s key is destroyed', async () => {
    const db = await projected.given(
      registered(alice, 'alice'),
      emailed(alice, 'a@example.org'),
      ofUser(alice, {
        type: 'UserSettingsChanged',
        settings: sealed('{}'),
        webhookSecret: null,
        acceptUnpricedModels: true,
        quotaWarningThreshold: 5,
      }),
      granted(alice, 5),
      ofUser(alice, { type: 'UserDeleted', by: root }),
    );
    const before = await userById(db, alice);
    projected.personalData.forget(alice);
    await again(users);
    expect(await userById(db, alice)).toEqual(before);
    expect(before).toMatchObject({ username: 'alice', display_name: null, quota: 5 });
  });

  test('continues at its position, in the running projector', async () => {
    const db = await projected.given(...busyHistory(10));
    await again(ledger);
    await projected.given(...callsFrom(10, 10));
    expect(await verifyLedger(db, projected.store)).toMatchObject({ sum: 0n, differences: [] });
  });

  test('can be built without any projector', async () => {
    await projected.record(option('a', '1'), option('a', '2'));
    expect(await again(counting())).toEqual({ position: 1, events: 2 });
    expect(await counts(projected.pool)).toEqual({ a: 2 });
    const committed: string[] = [];
    const runner = await projected.start({
      projections: [counting()],
      committed: (model) => void committed.push(model),
    });
    await runner.caughtUp();
    expect(runner.status()).toMatchObject([{ position: 1 }]);
    expect(committed).toEqual([]);
  });

  test('is listed with its progress', async () => {
    await projected.record(option('a', '1'));
    await again(counting());
    const head = await projected.record(option('a', '2'));
    expect(await listReadModels(projected.pool, projected.store)).toMatchObject([
      { name: 'counting', version: 1, position: 0, head, status: 'running', failure: null, led: false },
    ]);
  });
});

/** Lines of calls that a reader finds. */
async function linesIn(db: ReadModels): Promise<number> {
  const lines = db.selectFrom('usage_log').where('type', '=', logTypes.consume);
  const { count } = await lines.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return count;
}

describe('during the rebuild of a read model', () => {
  test('events are still folded and queries answered: no gap, no step back, and the same rows in the end', async () => {
    const runner = await projected.start();
    const db = await projected.given(...busyHistory(50));
    const seen: number[] = [];
    let done = false;
    const reading = (async () => {
      while (!done) seen.push(await linesIn(db));
    })();
    const appending = (async () => {
      for (let n = 50; n < 350; n += 10) {
        const position = await projected.record(...callsFrom(n, 10));
        await hold(runner, position);
      }
    })();
    for (let round = 0; round < 4; round++) await again(usageLog, { pageSize: 50 });
    await appending;
    done = true;
    await reading;
    expect(seen.every((count, index) => index === 0 || count >= (seen[index - 1] ?? 0))).toBe(true);
    expect(seen[0]).toBeGreaterThan(0);
    await projected.given(option('the', 'end'));
    const live = await projected.dump(schemaOf(usageLog));
    await again(usageLog);
    expect(await projected.dump(schemaOf(usageLog))).toEqual(live);
    expect(seen.length).toBeGreaterThan(20);
  });

  test('a snapshot of the ledger always has the position it names', async () => {
    const runner = await projected.start();
    const db = await projected.given(...busyHistory(40));
    const user = userNumber(1);
    const snapshots: { balance: number; held: number; position: Position }[] = [];
    let done = false;
    const reading = (async () => {
      while (!done) {
        const { balance, reservations, position } = await quotaSnapshot(db, user);
        snapshots.push({
          balance: Number(balance),
          held: reservations.reduce((sum, { quota }) => sum + quota, 0),
          position,
        });
      }
    })();
    const appending = (async () => {
      for (let n = 40; n < 400; n += 5) {
        await hold(runner, await projected.record(...callsFrom(n, 5)));
      }
    })();
    for (let round = 0; round < 6; round++) await again(ledger, { pageSize: 100 });
    await appending;
    done = true;
    await reading;

    const log = await projected.store.readAll(beginning, 100_000);
    const expected = new Map<number, { balance: number; held: number }>();
    let balance = 0;
    const holds = new Map<string, number>();
    for (const { event, stream, position } of log) {
      if ('facts' in event && event.facts.userId === user) {
        if (event.type === 'CallReserved') holds.set(streamKey(stream), event.reserved);
        else holds.delete(streamKey(stream));
        if (event.type === 'CallSettled') balance -= event.charged;
        if (event.type === 'CallRefunded') balance += event.settlement.charged;
        if (event.type === 'CallCorrected') balance += event.from.charged - event.to.charged;
      }
      if (event.type === 'QuotaGranted' && stream === `user-${user}`) balance += event.quota;
      if (event.type === 'QuotaAdjusted' && stream === `user-${user}`) balance += event.delta;
      expected.set(Number(position), { balance, held: [...holds.values()].reduce((sum, quota) => sum + quota, 0) });
    }
    expect(snapshots.map(({ position, ...figures }) => [position, figures])).toEqual(
      snapshots.map(({ position }) => [position, expected.get(Number(position))]),
    );
    expect(new Set(snapshots.map(({ position }) => position)).size).toBeGreaterThan(5);
  });

  test('a snapshot that finds some tables old and some new is taken again', async () => {
    const db = await projected.given(granted(alice, 100), reserved('a', 40));
    await projected.stopAll();
    await projected.record(settled('a', 40, 15), reserved('b', 7));
    const blocker = await projected.pool.connect();
    try {
      // The statement names ledger_position first; it has the old one when it comes to wait for open_call.
      await blocker.query('begin; lock table ledger_v3.open_call in access exclusive mode');
      const snapshot = quotaSnapshot(db, alice);
      await vi.waitFor(async () => {
        const { rowCount } = await projected.pool.query(
          `select from pg_locks where not granted and relation = 'ledger_v3.open_call'::regclass`,
        );
        expect(rowCount).toBe(1);
      }, 10_000);
      const rebuilding = again(ledger);
      await vi.waitFor(async () => expect(await schemas()).toContain('ledger_v3_retired'), 10_000);
      await blocker.query('commit');
      expect(await snapshot).toEqual({
        balance: 85n,
        spending: [],
        reservations: [{ callId: 'b', quota: 7 }],
        position: 3,
      });
      await rebuilding;
    } finally {
      blocker.release();
    }
  });

  test('a long read of the old tables neither fails nor delays the swap', async () => {
    await projected.given(...busyHistory(20));
    const reader = await projected.pool.connect();
    try {
      await reader.query('begin');
      const before = await reader.query(`select count(*) from ${schemaOf(usageLog)}.usage_log`);
      const rebuilding = again(usageLog);
      // The new tables serve although the old ones are still being read.
      const { rows: old } = await reader.query<{ oid: number }>(
        `select '${schemaOf(usageLog)}.usage_log'::regclass::oid as oid`,
      );
      await vi.waitFor(async () => {
        const { rows } = await projected.pool.query<{ oid: number }>(
          `select '${schemaOf(usageLog)}.usage_log'::regclass::oid as oid`,
        );
        expect(rows[0]?.oid).not.toBe(old[0]?.oid);
      }, 10_000);
      await projected.given(...callsFrom(20, 5));
      await reader.query('commit');
      await rebuilding;
      expect(before.rows).toHaveLength(1);
      expect(await schemas()).toEqual(readModels.map(schemaOf).sort());
    } finally {
      reader.release();
    }
  });

  test('a reader of one of the old tables and then the others causes no deadlock', async () => {
    await projected.given(...busyHistory(5));
    const retired = `${schemaOf(ledger)}_retired`;
    const tables = await tablesIn(schemaOf(ledger));
    expect(tables.length).toBeGreaterThan(2);
    for (const first of tables) {
      const reader = await projected.pool.connect();
      try {
        await reader.query('begin');
        await reader.query(`select from ${schemaOf(ledger)}.${first}`);
        const rebuilding = again(ledger);
        const left = await until(async () => {
          const waiting = await projected.pool.query(
            `select from pg_locks where not granted and relation = to_regclass($1)`,
            [`${retired}.${first}`],
          );
          return waiting.rowCount === 1 ? tablesIn(retired) : null;
        });
        expect(left).toContain(first);
        for (const table of left) await reader.query(`select from ${retired}.${table}`);
        await reader.query('commit');
        await rebuilding;
      } finally {
        reader.release(true);
      }
    }
    expect(await schemas()).toEqual(readModels.map(schemaOf).sort());
  });

  test('a second rebuild is refused', async () => {
    await projected.given(...busyHistory(5));
    const somebody = await projected.pool.connect();
    try {
      expect(await lockForRebuilding(somebody, ledger)).toBe(true);
      expect(await again(ledger).catch((error: unknown) => error)).toMatchObject({ code: 'lost-race' });
      // A connection that is ended holds its locks until the server has noticed.
      await somebody.query('select pg_advisory_unlock_all()');
    } finally {
      somebody.release(true);
    }
    expect(await again(ledger)).toMatchObject({ events: expect.any(Number) });
  });
});

describe('an interrupted rebuild', () => {
  test('leaves the read model unchanged, and can be repeated', async () => {
    const db = await projected.given(...busyHistory(60));
    const before = await projected.dump('ledger_v3');
    const abort = new AbortController();
    const cancelled = again(ledger, {
      pageSize: 20,
      signal: abort.signal,
      progress: () => abort.abort(new Error('enough')),
    });
    await expect(cancelled).rejects.toThrow('enough');
    expect(await projected.dump('ledger_v3')).toEqual(before);
    await projected.given(...callsFrom(60, 5));
    await again(ledger);
    expect(isSound(await verifyLedger(db, projected.store))).toBe(true);
    expect(await schemas()).toEqual(readModels.map(schemaOf).sort());
  });

  test('leaves no trace after a lost connection, whichever statement it is lost at', async () => {
    const db = await projected.given(...busyHistory(30));
    let statement = 1;
    let broken = true;
    while (broken) {
      statement += 1;
      broken = await breaksAt(statement);
      expect(await verifyLedger(db, projected.store), `lost at statement ${statement}`).toMatchObject({
        sum: 0n,
        differences: [],
      });
    }
    expect(statement).toBeGreaterThan(20);
    expect(await schemas()).toEqual(readModels.map(schemaOf).sort());
  });

  /** Whether a rebuild whose connection is cut just before its n-th statement fails. */
  async function breaksAt(statement: number): Promise<boolean> {
    const cutting = () => {
      const client = newClient(projected.database.connection);
      const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
      let sent = 0;
      const counted = async (...args: unknown[]): Promise<unknown> => {
        // The limits every connection begins with are not the rebuild's statements.
        if (!/_timeout to|_interval to/.test(String(args[0]))) sent += 1;
        if (sent === statement)
          await projected.pool.query(
            `select pg_terminate_backend(pid, 5000) from pg_stat_activity
             where datname = current_database() and application_name = 'tallygate rebuild ledger_v3'`,
          );
        return query(...args);
      };
      return Object.assign(client, { query: counted });
    };
    try {
      await again(ledger, { pageSize: 40, newClient: cutting });
      return false;
    } catch {
      return true;
    }
  }

  test('reports an event that cannot be folded and leaves the old tables', async () => {
    const runner = await projected.start({ projections: [counting()] });
    await hold(runner, await projected.record(option('a', '1'), option('b', '1')));
    const sick = counting({
      afterRows: () => {
        throw new Error('no idea');
      },
    });
    await expect(again(sick)).rejects.toThrow('no idea');
    expect(await counts(projected.pool)).toEqual({ a: 1, b: 1 });
  });
});

describe('a stopped read model', () => {
  test('runs again once it is rebuilt, in the projector that stopped', async () => {
    let sick = true;
    const recovering = counting({
      afterRows: () => {
        if (sick) throw new Error('no idea');
      },
    });
    const runner = await projected.start({ projections: [recovering], pace: { pollMs: 10 } });
    await projected.record(option('a', '1'));
    await vi.waitFor(() => expect(runner.status()).toMatchObject([{ status: 'stopped' }]), 10_000);
    sick = false;
    await again(recovering);
    await vi.waitFor(() => expect(runner.status()).toMatchObject([{ status: 'running', position: 0 }]), 10_000);
    await hold(runner, await projected.record(option('a', '2')));
    expect(await counts(projected.pool)).toEqual({ a: 2 });
  });
});

test('rows written within a busy second have the times of their events', async () => {
  await projected.given(when(at(1.999), settled('a', 9, 1, { facts: { apiKeyId: aliceKey } })));
  const before = await projected.dump(schemaOf(usageLog));
  await again(usageLog);
  expect(await projected.dump(schemaOf(usageLog))).toEqual(before);
});
