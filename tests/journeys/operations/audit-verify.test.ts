import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/adapters/clock.js';
import { postgresEventLines, postgresLineByPosition } from '../../../src/adapters/seals/event-lines.js';
import { postgresSealKeyStore } from '../../../src/adapters/seals/seal-key-store.js';
import { postgresSealStore } from '../../../src/adapters/seals/seal-store.js';
import { type LogVerdict, verifyLog } from '../../../src/application/audit/verify-log.js';
import { closePeriod } from '../../../src/application/books/close-period.js';
import { sealNewEvents } from '../../../src/application/seals/sealer.js';
import { auditBalanceAt } from '../../../src/cli/audit/balance-at.js';
import { auditClose, closePortsOf } from '../../../src/cli/audit/close.js';
import { auditMargin } from '../../../src/cli/audit/margin.js';
import { auditPeriods } from '../../../src/cli/audit/periods.js';
import { auditReceipt } from '../../../src/cli/audit/receipt.js';
import { auditReconcile } from '../../../src/cli/audit/reconcile.js';
import { auditSettingsAt } from '../../../src/cli/audit/settings-at.js';
import { auditVerify, verifyPortsOf } from '../../../src/cli/audit/verify.js';
import { auditWhatIf } from '../../../src/cli/audit/what-if.js';
import { type CommandDatabase, withDatabase } from '../../../src/cli/database.js';
import { Position } from '../../../src/domain/events/events.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { graceMs } from '../../../src/domain/ledger/closing.js';
import { Period, periodBounds } from '../../../src/domain/ledger/period.js';
import { schemaOf } from '../../../src/projections/engine/projection.js';
import { verifyReadModel } from '../../../src/projections/engine/verify-read-model.js';
import { ledger } from '../../../src/projections/models/ledger/ledger.js';
import { users } from '../../../src/projections/models/users.js';
import { openCallers } from '../../support/callers/callers.js';
import { ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { quietLog } from '../../support/quiet-log.js';

/* The log of a gateway that stands still is verified: as it is, and with everything in it that somebody may have done. */

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.addChannel({ setting: '{"purchase_prices":{"gpt-4o-mini":{"input":2,"output":3}}}' });
  const alice = await gateway.addUser(50_000_000, 'alice');
  const callers = openCallers(gateway.url);
  const caller = callers.with(await gateway.addApiKey(alice));
  for (let n = 0; n < 3; n++) await caller.chat({ model: 'gpt-4o-mini', max_tokens: 20 });
  await callers.close();
  const erased = await gateway.addUser(1_000, 'bob');
  await gateway.application.users.erase(gateway.root, erased.actor.id);
  await inDatabase(ledgerAtRest);
  await gateway.stopKeepingData();
  await inDatabase(async (database) => {
    const { pool, vault } = database;
    await sealNewEvents(
      {
        ...{ vault, clock: systemClock, lines: postgresEventLines(pool) },
        ...{ seals: postgresSealStore(pool), keys: postgresSealKeyStore(pool) },
      },
      { maxEvents: 7 },
    );
  });
});
afterAll(() => gateway?.stop());

const inDatabase = <Result>(work: (database: CommandDatabase) => Promise<Result>) =>
  withDatabase(gateway.config, quietLog, work);

const verified = (
  database: CommandDatabase,
  full = true,
  given: ReadonlySet<string> | null = null,
): Promise<LogVerdict> => verifyLog(verifyPortsOf(database), { full, given });

test('a log with an erased user is sound, and the next verification begins at the end of this one', async () => {
  await inDatabase(async (database) => {
    const first = await verified(database);
    expect(first).toMatchObject({ from: -1, found: 0, unsealed: 0 });
    expect(first.events).toBeGreaterThan(15);
    const second = await verified(database, false);
    expect(second).toMatchObject({ position: first.position, found: 0 });
    expect(second.events).toBeLessThan(10);
    // Whoever has the database alone cannot say that something was verified.
    await database.pool.query(`UPDATE audit_checkpoint SET facts = replace(facts, '"granted":"', '"granted":"1')`);
    expect(await verified(database, false)).toMatchObject({ from: -1, events: first.events, found: 0 });
  });
});

test('what was verified under some keys was not verified under others', async () => {
  await inDatabase(async (database) => {
    const keys = await postgresSealKeyStore(database.pool).all();
    const given = new Set(keys.map(({ publicKey }) => publicKey));
    const whole = await verified(database);
    const codes = ({ findings }: LogVerdict) => findings.map(({ code }) => code);
    expect(codes(await verified(database, false, new Set(['not-in-the-log'])))).toContain('key-unknown');
    expect(await verified(database, false, given)).toMatchObject({ from: -1, events: whole.events, found: 0 });
    expect((await verified(database, false, given)).from).toBeGreaterThan(0);
    expect(await verified(database, false)).toMatchObject({ from: -1, found: 0 });
  });
});

/** The newest settlement: its stream ends there. */
const settled = "(SELECT max(position) FROM events WHERE type = 'CallSettled')";

describe('what differs is found:', () => {
  test.each([
    {
      _name: 'a balance that was changed',
      change: `UPDATE ${schemaOf(ledger)}.ledger_balance SET balance = balance + 5 WHERE account = 'revenue'`,
      undo: `UPDATE ${schemaOf(ledger)}.ledger_balance SET balance = balance - 5 WHERE account = 'revenue'`,
      found: ['ledger balance-differs', 'ledger sum-not-zero'],
    },
    {
      _name: 'a charge that was changed in the log',
      change: `CREATE TABLE before AS SELECT * FROM events WHERE position = ${settled};
        UPDATE events SET data = json_build_array(data->0, data->1, 1, data->3, data->4, data->5, data->6, data->7, data->8, data->9)
        WHERE position = ${settled}`,
      undo: `UPDATE events SET data = before.data FROM before WHERE before.position = events.position; DROP TABLE before`,
      found: ['ledger balance-differs', 'seals events-altered'],
    },
    {
      _name: 'an event that is missing from its stream',
      change: `UPDATE events SET revision = revision + 3 WHERE position = ${settled}`,
      undo: `UPDATE events SET revision = revision - 3 WHERE position = ${settled}`,
      found: ['seals events-altered', 'streams revision-missing', 'streams second-outcome'],
    },
    {
      _name: 'a call that was charged twice',
      change: `INSERT INTO events SELECT position + 1000000, gen_random_uuid(), stream, revision + 1, type, version, data, at
        FROM events WHERE position = ${settled}`,
      undo: 'DELETE FROM events WHERE position > 1000000',
      found: ['streams second-outcome'],
    },
    {
      _name: 'a call that was reserved and settled again, at the revisions it had',
      change: `DROP INDEX events_of_stream;
        INSERT INTO events SELECT position + 1000000, gen_random_uuid(), stream, revision, type, version, data, at
        FROM events WHERE stream = (SELECT stream FROM events WHERE position = ${settled})`,
      undo: `DELETE FROM events WHERE position > 1000000;
        CREATE UNIQUE INDEX events_of_stream ON events ((stream LIKE 'call-%'), stream, revision)`,
      found: ['streams revision-twice'],
    },
    {
      _name: 'a payload that is no event',
      change: `CREATE TABLE before AS SELECT * FROM events WHERE position = ${settled};
        UPDATE events SET data = '[null, {}, [], 1]' WHERE position = ${settled}`,
      undo: `UPDATE events SET data = before.data FROM before WHERE before.position = events.position; DROP TABLE before`,
      found: ['ledger balance-differs', 'ledger event-unreadable', 'seals events-altered'],
    },
  ])('$_name', async ({ change, undo, found }) => {
    await inDatabase(async (database) => {
      await database.pool.query(change);
      try {
        const { findings } = await verified(database);
        expect([...new Set(findings.map(({ check, code }) => `${check} ${code}`))].sort()).toEqual(found);
      } finally {
        await database.pool.query(undo);
      }
      expect((await verified(database)).found).toBe(0);
    });
  });
});

test('every read model equals a fresh fold, and a row that was changed is shown', async () => {
  await inDatabase(async ({ pool, store, newClient, personalData }) => {
    const compared = () =>
      verifyReadModel({ projection: users, feed: store, newClient, context: { personalData }, pageSize: 4 });
    expect((await compared()).differences).toEqual([]);
    await pool.query(`UPDATE ${schemaOf(users)}.users SET role = 'root' WHERE username = 'alice'`);
    expect((await compared()).differences).toMatchObject([{ table: 'users', missing: 1, surplus: 1 }]);
  });
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  await auditVerify({ config: gateway.config, log: quietLog as never, args: [] }).finally(() => vi.restoreAllMocks());
  const code = process.exitCode;
  process.exitCode = 0;
  expect(lines.filter((line) => !line.includes('as a fresh fold'))).toEqual([
    expect.stringContaining('up to which everything was found sound before'),
    expect.stringContaining('0 events are not sealed yet.'),
    expect.stringContaining('users: users lacks 1 rows and has 1 too many'),
    'NOT everything is as the log says.',
  ]);
  expect(code).toBe(1);
});

describe('questions about the past', () => {
  const balance = (log: string[]) => {
    const printed = vi.spyOn(console, 'log').mockImplementation((line: string) => void log.push(line));
    const args = ['--user', String(gateway.root.id), '--json'];
    return auditBalanceAt({ config: gateway.config, log: quietLog, args }).finally(() => printed.mockRestore());
  };
  const settings = () => auditSettingsAt({ config: gateway.config, log: quietLog, args: ['--key', 'RetryTimes'] });

  test.each([
    { _name: 'is behind the log', set: 'position = 1', reason: /is at position 1 of \d+, and no gateway goes on/ },
    { _name: 'has stopped', set: "position = 1, status = 'stopped'", reason: /has stopped: it is at position 1 of/ },
  ])('are refused while their read model $_name', async ({ set, reason }) => {
    const lines: string[] = [];
    await balance(lines);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ kind: 'user', available: expect.any(String) });
    await inDatabase(async ({ pool }) => {
      const asked = "name IN ('quota_history', 'option_history')";
      const { rows } = await pool.query(`SELECT name, position FROM projections.checkpoints WHERE ${asked}`);
      await pool.query(`UPDATE projections.checkpoints SET ${set} WHERE ${asked}`);
      try {
        await expect(balance([])).rejects.toMatchObject({ details: { reason: expect.stringMatching(reason) } });
        if (set.includes('stopped'))
          await expect(settings()).rejects.toMatchObject({ details: { reason: expect.stringMatching(reason) } });
      } finally {
        for (const { name, position } of rows)
          await pool.query("UPDATE projections.checkpoints SET position = $2, status = 'running' WHERE name = $1", [
            name,
            position,
          ]);
      }
    });
  });
});

test('books that are closed are listed with their balances, and held against the log by the next verification', async () => {
  const month = Period(new Date().toISOString().slice(0, 7));
  const closed = await inDatabase(async (database) => {
    const clock = settableClock(Instant(periodBounds(month).until + graceMs));
    const closed = await closePeriod({ ...closePortsOf(database), clock }, month);
    expect(await verified(database)).toMatchObject({ found: 0 });
    const changed = (sign: string) =>
      database.pool.query(
        `UPDATE events SET data = replace(data::text, '["revenue","', '["revenue","${sign}')::json WHERE type = 'BalancesRecorded'`,
      );
    await changed('-');
    const { findings } = await verified(database);
    expect(findings.map(({ code }) => code)).toEqual(['closing-differs']);
    await database.pool.query(
      `UPDATE events SET data = replace(data::text, '["revenue","-', '["revenue","')::json WHERE type = 'BalancesRecorded'`,
    );
    return closed;
  });
  const lines: string[] = [];
  const printed = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  const periods = (...args: string[]) => auditPeriods({ config: gateway.config, log: quietLog, args });
  await periods();
  await periods('--period', month, '--json').finally(() => printed.mockRestore());
  expect(lines[0]).toContain(`under seal ${closed.seal.number}:${closed.seal.digest}`);
  expect(lines.slice(1).map((line) => JSON.parse(line).account)).toContain('user:2:available');
  await expect(periods('--period', '1999')).rejects.toThrow('its books are not closed');
  await expect(periods('--period', 'May')).rejects.toThrow('give a month, a day or a year of UTC');
  const close = auditClose({ config: gateway.config, log: quietLog, args: ['--period', month] });
  await close.finally(() => vi.restoreAllMocks());
});

describe('a receipt at the terminal', () => {
  const run = async (...args: string[]): Promise<{ readonly lines: string[]; readonly code: unknown }> => {
    const lines: string[] = [];
    const printed = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    await auditReceipt({ config: gateway.config, log: quietLog, args }).finally(() => printed.mockRestore());
    const code = process.exitCode;
    process.exitCode = 0;
    return { lines, code };
  };

  test('names the seals that cover its call, is checked by the public key alone, and is refused when changed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'receipt-'));
    try {
      const { call, hash, keys } = await inDatabase(async ({ pool }) => {
        const { rows } = await pool.query(
          `SELECT stream, position FROM events WHERE type = 'CallSettled' ORDER BY position DESC LIMIT 1`,
        );
        const line = await postgresLineByPosition(pool).at(Position(rows[0].position));
        const hash = createHash('sha256').update(`${line}\n`).digest('hex');
        return { call: rows[0].stream.slice('call-'.length), hash, keys: await postgresSealKeyStore(pool).all() };
      });
      const { lines } = await run(call);
      expect(lines.join('\n')).toContain(`SHA-256 ${hash}, seal `);
      expect(lines.at(-1)).toBe('Every event is covered by a seal.');

      const [signed = ''] = (await run(call, '--json')).lines;
      const [file, changed, publicKey] = ['receipt.json', 'changed.json', 'key.txt'].map((name) => join(folder, name));
      await writeFile(file as string, `${signed}\n`);
      await writeFile(changed as string, signed.replace('"paid":', '"paid":1'));
      await writeFile(publicKey as string, keys.map((key) => `${key.publicKey}\n`).join(''));
      const check = (path: string | undefined) => run('--check', path ?? '', '--public-key', publicKey ?? '');
      const sound = await check(file);
      expect(sound.lines.at(-1)).toBe('The receipt is signed, and adds up.');
      expect(sound.code).not.toBe(1);
      const found = await check(changed);
      expect(found.lines).toEqual([expect.stringContaining('signature-wrong: '), 'The receipt is NOT sound.']);
      expect(found.code).toBe(1);

      const [told = ''] = (await run(call, '--for-user', '--json')).lines;
      expect(JSON.parse(told).receipt).toMatchObject({ disclosure: 'caller', attempts: null });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test.each([
    { _name: 'no id', args: [], message: 'Give the id of a request' },
    { _name: 'an id that no call has', args: ['never'], message: 'never: there is no call with this id.' },
    { _name: 'a file and no key', args: ['--check', 'receipt.json'], message: '--public-key' },
    { _name: 'a file that is not there', args: ['--check', 'x', '--public-key', 'nowhere'], message: 'cannot be read' },
  ])('says what is missing, given $_name', async ({ args, message }) => {
    await expect(run(...args)).rejects.toThrow(message);
  });
});

test('the margin of calls is what they were charged less what they cost by the purchase prices of their channel', async () => {
  const lines: string[] = [];
  const printed = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  const margin = (...args: string[]) => auditMargin({ config: gateway.config, log: quietLog, args });
  await margin('--by', 'model', '--json').finally(() => printed.mockRestore());
  const { rows } = JSON.parse(lines[0] ?? '');
  const cost = await inDatabase(async ({ store }) => {
    const settled = (await store.readNewest(200)).flatMap(({ event }) => (event.type === 'CallSettled' ? [event] : []));
    return settled.reduce((sum, { usage }) => sum + (usage.input ?? 0) * 2 + (usage.output ?? 0) * 3, 0) / 1_000_000;
  });
  expect(rows).toEqual([
    expect.objectContaining({ group: 'gpt-4o-mini', calls: 3, callsWithoutCost: 0, chargedWithoutCost: '0' }),
  ]);
  expect(Number(rows[0].cost)).toBeCloseTo(cost, 12);
  expect(cost).toBeGreaterThan(0);
  expect(Number(rows[0].margin)).toBeCloseTo(Number(rows[0].charged) - cost, 12);
  await expect(margin('--by', 'nobody')).rejects.toThrow('--by: give user, model, channel, day');
});

describe("a provider's usage export", () => {
  const options = ['--provider', 'house', '--channel', '1'];
  const columns = ['When=time', 'Model=model', 'In=prompt', 'Out=output'].flatMap((pair) => ['--map', pair]);
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'export-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** A row for each call of the log. */
  const rows = () =>
    inDatabase(async ({ store }) => {
      const events = await store.readNewest(200);
      return events.flatMap(({ at, event }) =>
        event.type === 'CallSettled'
          ? [[new Date(at).toISOString(), event.facts.model, event.usage.input ?? 0, event.usage.output ?? 0]]
          : [],
      );
    });

  async function reconciled(table: readonly (readonly unknown[])[], ...args: string[]) {
    const file = join(folder, 'usage.csv');
    await writeFile(file, [['When', 'Model', 'In', 'Out'], ...table].map((row) => `${row.join(',')}\r\n`).join(''));
    const lines: string[] = [];
    const printed = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    const given = [...options, '--window', 'call', '--file', file, ...args];
    await auditReconcile({ config: gateway.config, log: quietLog, args: given }).finally(() => printed.mockRestore());
    const code = process.exitCode ?? 0;
    process.exitCode = 0;
    return { code, printed: lines.join('\n') };
  }

  test('is compared with the log by columns that are given once, and every seeded fault is found', async () => {
    const table = await rows();
    expect(table).toHaveLength(3);
    const whole = await reconciled(table, ...columns, '--remember');
    expect(whole).toMatchObject({ code: 0, printed: expect.stringContaining('No differences.') });
    const [first = [], second = [], third = []] = table;
    const faulty = [
      first,
      [...second.slice(0, 3), Number(second[3]) + 5],
      [...third.slice(0, 2), 70_000, 9_000],
      third,
    ];
    const found = await reconciled(faulty, '--json');
    expect(found.code).toBe(1);
    const { differences, total } = JSON.parse(found.printed);
    expect(differences.map((difference: { class: string }) => difference.class).sort()).toEqual([
      'missing-here',
      'tokens',
    ]);
    expect(total.differences).toMatchObject({ calls: '1', prompt: '70000', output: '9005', cost: '0' });
  });

  test('with a cell that cannot be read, or of a channel that is not there, is refused by name', async () => {
    const [row = []] = await rows();
    await expect(reconciled([row, [...row.slice(0, 2), 'many', 1]])).rejects.toThrow(
      'line 3, column In: give a decimal',
    );
    await expect(reconciled([['', '"broken']])).rejects.toThrow('Quote');
    await expect(reconciled([row], '--channel', '99')).rejects.toThrow('there is no such channel');
    await expect(reconciled([row], '--map', 'In=tokens')).rejects.toThrow('give a field, one of');
  });
});

test('the command that tries other prices shows what the calls of the period cost, and what twice the ratio makes of it', async () => {
  const day = 24 * 60 * 60 * 1_000;
  const at = (offset: number) => new Date(Date.now() + offset).toISOString();
  const tried = async (...args: string[]) => {
    const lines: string[] = [];
    const printed = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    const period = ['--from', at(-day), '--to', at(day)];
    await auditWhatIf({ config: gateway.config, log: quietLog, args: [...period, ...args] }).finally(() =>
      printed.mockRestore(),
    );
    return lines;
  };
  const [same = ''] = await tried('--json');
  const { calls, actual, hypothetical, users } = JSON.parse(same);
  expect([calls, users.length, hypothetical]).toEqual([3, 1, actual]);
  const [all = '', dearer] = await tried('--group-ratio', 'default=2');
  const [, before, after] = /^All: 3 calls, (\d+) -> (\d+) \(\+\d+\)$/.exec(all) ?? [];
  expect(before).toBe(actual);
  // Each of them is rounded by itself.
  expect(Math.abs(Number(after) - 2 * Number(actual))).toBeLessThanOrEqual(calls);
  expect(dearer).toBe('1 of 1 users would pay more.');
  await expect(tried('--group-ratio', 'default')).rejects.toThrow('--group-ratio default: give a group');
  await expect(tried('--prices', '/nowhere/prices.json')).rejects.toThrow('it cannot be read');
});
