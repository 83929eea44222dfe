import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { postgresNotificationQueue } from '../../../src/adapters/notification-queue.js';
import type { NotificationOutcome } from '../../../src/application/notifications/deliver-notification.js';
import { notificationDispatcher } from '../../../src/application/notifications/notification-dispatcher.js';
import { type Notify, notifier } from '../../../src/application/notifications/notifier.js';
import type { NotificationQueue } from '../../../src/application/ports/outbound-ports.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { type Notification, newsForMs, trial } from '../../../src/domain/user/notification.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { MemoryPersonalData } from '../../support/memory/fake-ports.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { until } from '../../support/until.js';

/* The queue is real, time is not. */

const alice = UserId(1);
const bob = UserId(2);
const start = Instant(1_800_000_000_000);
const backoffMs = [5_000, 60_000];

let database: TestDatabase;
let queue: NotificationQueue;
let clock: ReturnType<typeof settableClock>;
let personal: MemoryPersonalData;
let notify: Notify;
let sent: [user: UserId, notification: Notification][];
let answers: (NotificationOutcome | Error | 'never')[];
let lines: string[];
let stop: (() => Promise<void>) | null;

beforeAll(async () => {
  database = await createTestDatabase();
  queue = postgresNotificationQueue(database.pool);
});
afterAll(() => database?.drop());
beforeEach(async () => {
  await database.pool.query('TRUNCATE notifications');
  clock = settableClock(start);
  personal = new MemoryPersonalData();
  notify = notifier({ queue, personal, clock, limit: { max: 2, withinMs: 600_000 } });
  [sent, answers, lines, stop] = [[], [], [], null];
});
afterEach(async () => stop?.());

const fails: NotificationOutcome = { ok: false, reason: 'nobody is there' };

/** A process; what it is answered is in `answers`, and it succeeds where there is none. */
function startSending(): void {
  stop = notificationDispatcher(
    {
      queue,
      personal,
      clock,
      async deliver(user, notification) {
        sent.push([user, notification]);
        const answer = answers.shift() ?? { ok: true };
        if (answer instanceof Error) throw answer;
        return answer === 'never' ? new Promise(() => {}) : answer;
      },
      log: {
        warn: (facts, message) => lines.push(`${message} ${JSON.stringify(facts)}`),
        error: (_, message) => lines.push(message),
      },
    },
    { everyMs: 5, backoffMs },
  );
}

let causes = 0;
const added = (user = alice, at: Instant = clock.now()) => notify(user, trial, { id: `cause ${++causes}`, at });
const times = (count: number) => until(async () => (sent.length >= count ? true : null));
const nobodyWaits = () => until(async () => ((await queue.state(clock.now())).waiting === 0 ? true : null));
/** The only one there is has been put off for so long. */
const putOff = (waitMs: number) =>
  until(async () => {
    const { rows } = await database.pool.query('SELECT FROM notifications WHERE next_try_at = $1', [
      clock.now() + waitMs,
    ]);
    return rows.length > 0 ? true : null;
  });

test('a notification is delivered once', async () => {
  await added();
  startSending();
  await nobodyWaits();
  expect(sent).toEqual([[alice, trial]]);
});

test('a failed notification is retried after its delay, and finally abandoned, with a line in the log', async () => {
  answers.push(fails, new Error('a mistake'), fails);
  await added();
  startSending();
  for (const wait of backoffMs) {
    await putOff(wait);
    clock.advance(wait);
  }
  await nobodyWaits();
  expect(sent).toHaveLength(3);
  expect((await queue.state(clock.now())).givenUp).toBe(1);
  expect(lines.at(-1)).toBe(
    'a notification has been given up {"user":1,"kind":"test","tries":3,"reason":"nobody is there"}',
  );
});

test('a recipient without a way to be reached is skipped', async () => {
  answers.push({ ok: 'skipped', reason: 'the user has no address' });
  await added();
  startSending();
  await nobodyWaits();
  expect(await queue.state(clock.now())).toMatchObject({ waiting: 0, givenUp: 0 });
});

test('a recipient that hangs delays no other recipient', async () => {
  answers.push('never');
  await added();
  startSending();
  await times(1);
  await added(bob);
  await times(2);
  expect(sent.map(([user]) => user)).toEqual([alice, bob]);
});

test('a delivery during which the process died is retried by the next', async () => {
  answers.push('never');
  await added();
  startSending();
  await times(1);
  await stop?.();
  startSending();
  clock.advance(40_000);
  await nobodyWaits();
  expect(sent).toHaveLength(2);
});

test('a notification for a user whose key has been destroyed is not delivered', async () => {
  await added();
  await personal.forget([alice]);
  startSending();
  await nobodyWaits();
  expect(sent).toEqual([]);
});

test('an old notification is dropped', async () => {
  await added(alice, Instant(start - newsForMs - 1));
  expect((await queue.state(start)).waiting).toBe(0);
});
