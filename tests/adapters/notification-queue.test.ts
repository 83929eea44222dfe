import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { postgresNotificationQueue } from '../../src/adapters/notification-queue.js';
import type { NewNotification, NotificationQueue } from '../../src/application/ports/outbound-ports.js';
import { Sealed, UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres/postgres.js';

let database: TestDatabase;
let pool: Pool;
let queue: NotificationQueue;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = database.pool;
  queue = postgresNotificationQueue(pool);
});
afterAll(() => database?.drop());
beforeEach(() => pool.query('TRUNCATE notifications'));

const start = 1_800_000_000_000;
const at = (seconds: number): Instant => Instant(start + seconds * 1000);
const limit = { max: 2, withinMs: 600_000 };
let causes = 0;
const notification = (changed: Partial<NewNotification> = {}): NewNotification => ({
  user: UserId(1),
  kind: 'quota_exceed',
  cause: `cause ${++causes}`,
  content: Sealed('sealed'),
  at: at(0),
  ...changed,
});
const waiting = async (): Promise<number> => (await queue.state(at(0))).waiting;
const taken = (seconds: number, max = 10) => queue.take(at(seconds), max, at(seconds + 40));

describe('a queued notification', () => {
  test('waits, with its content, and is taken by one worker at a time', async () => {
    await queue.add(notification({ at: at(3) }), limit);
    expect(await taken(3)).toEqual([
      { id: expect.any(Number), user: 1, kind: 'quota_exceed', content: 'sealed', at: at(3), tries: 1 },
    ]);
    expect(await taken(42)).toEqual([]);
    expect(await taken(43)).toMatchObject([{ tries: 2 }]);
  });

  test('is queued once, however often its event is repeated', async () => {
    await queue.add(notification({ cause: 'the same' }), limit);
    await queue.add(notification({ cause: 'the same', user: UserId(2) }), limit);
    expect(await waiting()).toBe(1);
  });

  test('is dropped beyond the rate limit of its user and kind', async () => {
    for (const second of [0, 1, 599]) await queue.add(notification({ at: at(second) }), limit);
    expect(await waiting()).toBe(2);
    await queue.add(notification({ kind: 'channel_update_1_3', at: at(599) }), limit);
    await queue.add(notification({ user: UserId(2), at: at(599) }), limit);
    expect(await waiting()).toBe(4);
  });

  test('counts for the rate limit when it has been delivered, until the time is over', async () => {
    for (const second of [0, 1]) await queue.add(notification({ at: at(second) }), limit);
    for (const { id } of await taken(1)) await queue.end(id, 'told');
    await queue.add(notification({ at: at(599) }), limit);
    expect(await waiting()).toBe(0);
    await queue.add(notification({ at: at(600) }), limit);
    expect(await waiting()).toBe(1);
  });

  test('does not accumulate while no delivery is possible', async () => {
    for (const hour of [0, 1, 2, 3]) await queue.add(notification({ at: at(hour * 3600) }), limit);
    expect(await waiting()).toBe(2);
  });
});

describe('a notification that is taken for delivery', () => {
  test('is the oldest that is due, up to the requested number', async () => {
    for (const user of [3, 1, 2]) await queue.add(notification({ user: UserId(user), at: at(user) }), limit);
    const first = await taken(10, 2);
    expect(first.map(({ user }) => user).sort()).toEqual([1, 2]);
    expect((await taken(10, 2)).map(({ user }) => user)).toEqual([3]);
  });

  test('is due again when it is postponed, and not before', async () => {
    await queue.add(notification(), limit);
    const [first] = await taken(0);
    await queue.later(first?.id ?? 0, at(5));
    expect(await taken(4)).toEqual([]);
    expect(await taken(5)).toMatchObject([{ tries: 2 }]);
  });

  test.each(['told', 'skipped', 'given-up'] as const)(
    'and %s is not due again, and its content is deleted',
    async (outcome) => {
      await queue.add(notification(), limit);
      const [first] = await taken(0);
      await queue.end(first?.id ?? 0, outcome);
      await queue.later(first?.id ?? 0, at(5));
      expect(await taken(100)).toEqual([]);
      const { rows } = await pool.query('SELECT content FROM notifications');
      expect(rows).toEqual([{ content: '' }]);
    },
  );

  test('goes to one of two concurrent workers', async () => {
    await queue.add(notification(), limit);
    const both = await Promise.all([taken(0), taken(0)]);
    expect(both.flat()).toHaveLength(1);
  });
});

test('abandoned notifications are counted for a week, and delivered ones are deleted sooner', async () => {
  for (const [user, outcome] of [
    [1, 'given-up'],
    [2, 'told'],
    [3, 'skipped'],
  ] as const) {
    await queue.add(notification({ user: UserId(user) }), limit);
    const [first] = await taken(0);
    await queue.end(first?.id ?? 0, outcome);
  }
  await queue.add(notification({ at: at(700) }), limit);
  expect(await queue.state(at(700))).toEqual({ waiting: 1, oldestWaitingSince: at(700), givenUp: 1 });
  const { rows } = await pool.query('SELECT outcome FROM notifications WHERE outcome IS NOT NULL');
  expect(rows).toEqual([{ outcome: 'given-up' }]);
  const week = 7 * 86_400;
  expect((await queue.state(at(week + 1))).givenUp).toBe(0);
  await queue.add(notification({ user: UserId(9), at: at(week + 1) }), limit);
  expect((await pool.query('SELECT FROM notifications WHERE outcome IS NOT NULL')).rowCount).toBe(0);
});
