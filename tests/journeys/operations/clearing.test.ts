import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/adapters/clock.js';
import { retention } from '../../../src/application/reactions/log-retention.js';
import { type CommandDatabase, withDatabase } from '../../../src/cli/database.js';
import { streams } from '../../../src/domain/events/events.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { schemaOf } from '../../../src/projections/engine/projection.js';
import { administratorsLog } from '../../../src/projections/models/administrators-log/administrators-log.js';
import { isSound, verifyLedger } from '../../../src/projections/models/ledger/verify-ledger.js';
import { usageLog } from '../../../src/projections/models/usage-log/usage-log.js';
import { openReadModels, readModels } from '../../../src/projections/read-models.js';
import { openCallers } from '../../support/callers/callers.js';
import { ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { signIn } from '../../support/gateway/sign-in.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { dumpAroundRebuild } from '../../support/postgres/read-model-dump.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/* The log is cleared, by hand and by the day: what is shown is less, and nobody has a quota more or less. */

const dayMs = 86_400_000;
/** The tenth of March, half past three. */
const start = Date.UTC(2027, 2, 10, 15, 30);
let now = start;

let gateway: TestGateway;
let alice: TestUser;
let call: () => Promise<unknown>;
let closeCallers: () => Promise<void>;

beforeAll(async () => {
  vi.spyOn(systemClock, 'now').mockImplementation(() => Instant(now));
  gateway = await startTestGateway();
  await gateway.addChannel();
  alice = await gateway.addUser(50_000_000);
  const callers = openCallers(gateway.url);
  closeCallers = () => callers.close();
  const caller = callers.with(await gateway.addApiKey(alice));
  call = () => caller.chat({ model: 'gpt-4o-mini', max_tokens: 20 });
  for (const later of [0, dayMs, 2 * dayMs, 3 * dayMs]) {
    now = start + later;
    await call();
  }
  // A call is answered before the log has it.
  await until(async () => ((await shown()) === 4 && (await summed()) === 4 ? true : null));
});
afterAll(async () => {
  await closeCallers?.();
  await gateway?.stop();
  vi.restoreAllMocks();
});

const inDatabase = <Result>(work: (database: CommandDatabase) => Promise<Result>) =>
  withDatabase(gateway.config, quietLog, work);

/** Every row of every read model, as text, but of the log and of the log of administrators, who have ordered something. */
const kept = () =>
  inDatabase(async (database) => {
    await ledgerAtRest(database);
    const changing = [usageLog.name, administratorsLog.name];
    const schemas = readModels.filter(({ name }) => !changing.includes(name)).map(schemaOf);
    const { rows } = await database.pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = any ($1) order by 1`,
      [schemas],
    );
    const tables: Record<string, unknown> = {};
    for (const { name } of rows)
      tables[name] = (await database.pool.query(`select t::text as row from ${name} t order by 1`)).rows;
    expect(isSound(await verifyLedger(openReadModels(database.pool), database.store))).toBe(true);
    return tables;
  });

const cookie = async () =>
  `session=${(await signIn(gateway.application.identity, alice.username, alice.password)).token}`;
const exported = async (file: 'usage' | 'statement') => {
  const answer = await fetch(`${gateway.url}/export/${file}.csv?month=2027-03`, {
    headers: { cookie: await cookie() },
  });
  return { status: answer.status, text: await answer.text() };
};
const shown = async () =>
  (await gateway.application.queries.log(alice.actor, { type: 2 }, { page: 1, size: 100 }, true)).total;
const summed = async () => (await gateway.application.queries.logStatistics(gateway.root, {}, false)).requests;
const events = () =>
  inDatabase(async ({ store }) => (await store.readStream(streams.usageLog)).map(({ event }) => event));

describe('clearing the usage log', () => {
  test('removes lines and their totals, and leaves balances, statements and statistics unchanged', async () => {
    const { application, root } = gateway;
    expect([await shown(), await summed()]).toEqual([4, 4]);
    const [before, statement] = [await kept(), await exported('statement')];
    expect(statement.status).toBe(200);
    expect((await exported('usage')).status).toBe(200);

    const border = Instant(start + dayMs + 1_000);
    const announced = await application.queries.linesBefore(root, border);
    const { items } = await application.queries.log(root, {}, { page: 1, size: 100 }, false);
    expect(announced).toBe(items.filter(({ created_at }) => created_at * 1000 < border).length);
    // Two calls, and what was given before.
    expect(announced).toBeGreaterThan(2);
    expect(await application.usageLog.clear(root, border)).toMatchObject({ lines: announced });

    expect([await shown(), await summed()]).toEqual([2, 2]);
    expect(await kept()).toEqual(before);
    expect(await exported('statement')).toEqual(statement);
    expect(await exported('usage')).toEqual({ status: 409, text: 'usage-log-cleared\n' });
    expect(await application.usageLog.clear(root, border)).toMatchObject({ lines: 0 });
    expect(await events()).toHaveLength(1);
    const filter = { by: null, kinds: null, subject: null, subjectId: null, from: null, to: null };
    const asked = { filter, order: 'newest', after: null, first: 1 } as const;
    const { items: acts } = await application.queries.administratorsLog(root, asked);
    expect(acts).toMatchObject([{ by: root.id, kind: 'cleared', subject: 'usage-log' }]);
  });

  test('is refused for a future time, and to users without the role', async () => {
    const { application, root } = gateway;
    await expect(application.usageLog.clear(root, Instant(now + 1_000))).rejects.toMatchObject({
      code: 'invalid-field',
      details: { field: 'before' },
    });
    await expect(application.usageLog.clear(alice.actor, Instant(start))).rejects.toMatchObject({
      code: 'role-too-low',
    });
    await expect(application.queries.linesBefore(alice.actor, Instant(start))).rejects.toMatchObject({
      code: 'role-too-low',
    });
  });
});

describe('the retention of usage-log lines', () => {
  const reported: number[] = [];
  const look = () =>
    retention(
      {
        settings: () => gateway.application.directory.settings(),
        clock: systemClock,
        usageLog: gateway.application.usageLog,
      },
      ({ lines }) => reported.push(lines),
    )();

  test('is unlimited by default', async () => {
    await look();
    expect(reported).toEqual([]);
  });

  test('removes a day once, with any number of queries', async () => {
    await gateway.setOption('general_setting.log_retention_days', '1');
    const before = await kept();
    await look();
    expect(reported).toEqual([]);
    now = start + 4 * dayMs;
    await Promise.all([look(), look()]);
    await look();
    expect(reported).toEqual([1]);
    expect(await shown()).toBe(1);
    const midnight = Math.floor(start / dayMs) * dayMs + 3 * dayMs;
    expect((await events()).slice(1)).toEqual([{ type: 'LogsCleared', before: midnight, by: 'retention' }]);
    now = start + 5 * dayMs;
    await look();
    expect(reported).toEqual([1, 1]);
    now = start + 6 * dayMs;
    await look();
    expect(reported).toEqual([1, 1]);
    expect(await events()).toHaveLength(3);
    expect(await shown()).toBe(0);
    expect(await kept()).toEqual(before);
  });
});

test('a cleared usage log is the same after a rebuild', async () => {
  await call();
  await until(async () => ((await shown()) === 1 ? true : null));
  const { before, after } = await inDatabase(dumpAroundRebuild);
  expect(after).toEqual(before);
});
