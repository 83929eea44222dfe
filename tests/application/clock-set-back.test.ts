import { expect, test } from 'vitest';
import { awaitingPayments } from '../../src/application/reactions/await-payments.js';
import { mailLimits } from '../../src/application/users/mail-limits.js';
import { Position } from '../../src/domain/events/events.js';
import { type PaymentId, UserId } from '../../src/domain/kernel/ids.js';
import { recentAttempts } from '../../src/rate-limit/recent-attempts.js';
import { requestLimit } from '../../src/rate-limit/request-limit.js';
import { modelRateLimiter } from '../../src/relay/admission/rate-limit.js';
import { AccessTokens } from '../../src/relay/upstream/access-tokens.js';
import { someInstant } from '../support/given/events.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { refusal } from '../support/refusal.js';

/* What was counted before the clock was set back a day counts as of now: nobody waits for the day to come round. */

const day = 24 * 60 * 60_000;

test('the count of attempts ends a window later if the clock is set back', () => {
  const clock = settableClock(someInstant);
  const attempts = recentAttempts<string>({ max: 2, withinMs: 60_000 }, clock);
  attempts.count('a');
  attempts.count('a');
  clock.advance(-day);
  expect(() => attempts.count('a')).toThrow(refusal('too-many-attempts', { seconds: 60 }));
  clock.advance(60_000);
  attempts.count('a');
});

test('mails keep their interval if the clock is set back', () => {
  const clock = settableClock(someInstant);
  const limits = mailLimits(clock);
  limits.begin('address', 'place');
  clock.advance(-day);
  expect(() => limits.begin('address', 'place')).toThrow(refusal('too-many-attempts', { seconds: 30 }));
  clock.advance(30_000);
  limits.begin('address', 'place');
});

test('requests of one client are admitted a window later if the clock is set back', () => {
  const clock = settableClock(someInstant);
  const admits = requestLimit({ limit: 2, windowSeconds: 60 }, clock);
  expect([admits('192.0.2.1'), admits('192.0.2.1'), admits('192.0.2.1')]).toEqual([true, true, false]);
  clock.advance(-day);
  expect(admits('192.0.2.1')).toBe(false);
  clock.advance(60_000);
  expect(admits('192.0.2.1')).toBe(true);
});

test('calls of one user are admitted a window later if the clock is set back, and so are successful ones', () => {
  const clock = settableClock(someInstant);
  const { admit } = modelRateLimiter(clock);
  const user = UserId(1);
  for (const limit of [
    { enabled: true, total: 2, successful: 5, windowSeconds: 60 },
    { enabled: true, total: 0, successful: 2, windowSeconds: 60 },
  ]) {
    clock.advance(2 * day);
    admit(user, limit)(true);
    admit(user, limit)(true);
    clock.advance(-day);
    expect(() => admit(user, limit)).toThrow('at most 2 requests');
    clock.advance(60_000);
    admit(user, limit)(true);
  }
});

test('a token of an upstream is fetched again if the clock is set back, as its age is unknown', async () => {
  const clock = settableClock(someInstant);
  const tokens = new AccessTokens(clock);
  let fetched = 0;
  const token = () =>
    tokens.of('credentials', async () => ({ ok: true, token: `token-${++fetched}`, lifeMs: 60 * 60_000 }));
  expect([await token(), await token()]).toMatchObject([{ token: 'token-1' }, { token: 'token-1' }]);
  clock.advance(-day);
  expect([await token(), await token()]).toMatchObject([{ token: 'token-2' }, { token: 'token-2' }]);
});

test('an order that waits for its payment is queried within an hour if the clock is set back', async () => {
  const clock = settableClock(someInstant);
  const created = Math.floor(someInstant / 1000);
  const id = 'order' as PaymentId;
  let asked = 0;
  const round = awaitingPayments(
    {
      clock,
      open: async () => [{ id, created_at: created, position: Position(1) }],
      payments: {
        check: async () => {
          asked++;
          return { status: 'open', unanswered: true } as never;
        },
        expire: async () => null,
      },
    },
    (error) => {
      throw error;
    },
  );
  clock.advance(60_000);
  await round();
  expect(asked).toBe(1);
  clock.advance(-day);
  await round();
  clock.advance(60 * 60_000);
  await round();
  expect(asked).toBe(2);
});
