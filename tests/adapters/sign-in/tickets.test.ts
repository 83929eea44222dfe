import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { postgresTickets } from '../../../src/adapters/sign-in/tickets.js';
import { type MasterKey, readMasterKey } from '../../../src/adapters/vault/master-key.js';
import type { Clock, Tickets } from '../../../src/application/ports/storage-ports.js';
import { someInstant } from '../../support/given/events.js';
import { type SettableClock, settableClock } from '../../support/given/fixed-clock.js';
import { MemoryTickets } from '../../support/memory/memory-tickets.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';

const minute = 60_000;
const mailed = { code: 'a1b2c3', content: 'what it is worth', lifetimeMs: 10 * minute, tries: 5 };

let database: TestDatabase;
let masterKey: MasterKey;
beforeAll(async () => {
  database = await createTestDatabase();
  masterKey = await readMasterKey({ secretKey: 'a secret that is long enough: 32+', dataDir: '/nowhere' });
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query('TRUNCATE tickets'));

const inPostgres = (clock: Clock): Tickets => postgresTickets({ pool: database.pool, masterKey, clock });

describe.each([
  ['in Postgres', inPostgres],
  ['of a test', (clock: Clock): Tickets => new MemoryTickets(clock)],
])('a ticket %s', (_, open) => {
  let clock: SettableClock;
  let tickets: Tickets;

  const isWrong = (): Promise<string | null> => tickets.check('email-code', 'alice@example.com', 'ffffff');
  const isRight = (): Promise<string | null> => tickets.check('email-code', 'alice@example.com', mailed.code);

  beforeEach(async () => {
    clock = settableClock(someInstant);
    tickets = open(clock);
    await tickets.issue('email-code', 'alice@example.com', mailed);
  });

  test('has the value it was issued for with its code, as often as it is checked', async () => {
    expect(await isRight()).toBe(mailed.content);
    expect(await isRight()).toBe(mailed.content);
  });

  test('is redeemed once, by one of many concurrent attempts', async () => {
    const redeemed = await Promise.all(
      Array.from({ length: 8 }, () => tickets.redeem('email-code', 'alice@example.com', mailed.code)),
    );
    expect(redeemed.filter((content) => content !== null)).toEqual([mailed.content]);
    expect(await isRight()).toBeNull();
  });

  test('that was redeemed can be restored, unless there is a newer valid one', async () => {
    await tickets.redeem('email-code', 'alice@example.com', mailed.code);
    await tickets.restore('email-code', 'alice@example.com', mailed);
    expect(await isRight()).toBe(mailed.content);
    await tickets.issue('email-code', 'alice@example.com', { ...mailed, code: 'newer', lifetimeMs: minute });
    await tickets.restore('email-code', 'alice@example.com', mailed);
    expect(await isRight()).toBeNull();
    expect(await tickets.check('email-code', 'alice@example.com', 'newer')).toBe(mailed.content);
    clock.advance(minute);
    await tickets.restore('email-code', 'alice@example.com', mailed);
    expect(await isRight()).toBe(mailed.content);
  });

  test('is invalid under another name, as another kind, or after it was dropped', async () => {
    expect(await tickets.check('email-code', 'bob@example.com', mailed.code)).toBeNull();
    expect(await tickets.check('password-reset', 'alice@example.com', mailed.code)).toBeNull();
    await tickets.drop('email-code', 'alice@example.com');
    expect(await isRight()).toBeNull();
  });

  test('is invalidated by the allowed number of wrong codes, checked or redeemed, and not by fewer', async () => {
    for (let wrong = 0; wrong < 4; wrong += 1) expect(await isWrong()).toBeNull();
    expect(await isRight()).toBe(mailed.content);
    expect(await tickets.redeem('email-code', 'alice@example.com', 'ffffff')).toBeNull();
    expect(await isRight()).toBeNull();
    expect(await tickets.redeem('email-code', 'alice@example.com', mailed.code)).toBeNull();
  });

  test('is invalidated by wrong codes also when they are concurrent', async () => {
    await Promise.all(Array.from({ length: 20 }, isWrong));
    expect(await isRight()).toBeNull();
  });

  test('expires when its time is over', async () => {
    clock.advance(mailed.lifetimeMs - 1);
    expect(await isRight()).toBe(mailed.content);
    clock.advance(1);
    expect(await isRight()).toBeNull();
    expect(await tickets.redeem('email-code', 'alice@example.com', mailed.code)).toBeNull();
  });

  test('is replaced by the next of its name: the older code is invalid, and the count of attempts restarts', async () => {
    for (let wrong = 0; wrong < 5; wrong += 1) await isWrong();
    await tickets.issue('email-code', 'alice@example.com', { ...mailed, code: '445566', content: 'newer' });
    expect(await isRight()).toBeNull();
    expect(await tickets.check('email-code', 'alice@example.com', '445566')).toBe('newer');
  });

  test('of an external service is valid once, in one of many concurrent attempts, until it is dropped', async () => {
    const shown = () => tickets.spend('telegram-sign-in', 'a signature', minute);
    const firsts = await Promise.all(Array.from({ length: 8 }, shown));
    expect(firsts.filter((first) => first)).toHaveLength(1);
    expect(await shown()).toBe(false);
    expect(await tickets.spend('telegram-sign-in', 'another', minute)).toBe(true);
    expect(await tickets.redeem('telegram-sign-in', 'a signature', '')).toBeNull();
    clock.advance(minute);
    expect(await shown()).toBe(true);
  });
});

describe('the table of tickets', () => {
  test('loses expired tickets when the next one is issued', async () => {
    const clock = settableClock(someInstant);
    await inPostgres(clock).issue('email-code', 'alice@example.com', mailed);
    clock.advance(mailed.lifetimeMs);
    await inPostgres(clock).issue('email-code', 'bob@example.com', mailed);
    const { rows } = await database.pool.query('SELECT 1 FROM tickets');
    expect(rows).toHaveLength(1);
  });

  test('contains neither name, code nor content in the clear', async () => {
    await inPostgres(settableClock(someInstant)).issue('email-code', 'alice@example.com', mailed);
    const { rows } = await database.pool.query<{ row: string }>('SELECT tickets::text AS row FROM tickets');
    for (const text of ['alice', mailed.code, mailed.content]) {
      expect(rows[0]?.row).not.toContain(text);
      expect(rows[0]?.row).not.toContain(Buffer.from(text).toString('hex'));
    }
  });
});
