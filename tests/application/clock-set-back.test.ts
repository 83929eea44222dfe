import { expect, test } from 'vitest';
import { mailLimits } from '../../src/application/commands/mail-limits.js';
import { recentAttempts } from '../../src/application/recent-attempts.js';
import { slidingWindow } from '../../src/rest-compat/wire/rate-limits.js';
import { someInstant } from '../support/events.js';
import { settableClock } from '../support/fixed-clock.js';
import { refusal } from '../support/refusal.js';

/* What was counted before the clock was set back a day counts as of now: nobody waits for the day to come round. */

const day = 24 * 60 * 60_000;

test('attempts that were counted end a window later', () => {
  const clock = settableClock(someInstant);
  const attempts = recentAttempts<string>({ most: 2, withinMs: 60_000 }, clock);
  attempts.count('a');
  attempts.count('a');
  clock.advance(-day);
  expect(() => attempts.count('a')).toThrow(refusal('too-many-attempts', { seconds: 60 }));
  clock.advance(60_000);
  attempts.count('a');
});

test('mails are as far apart as ever', () => {
  const clock = settableClock(someInstant);
  const limits = mailLimits(clock);
  limits.begin('address', 'place');
  clock.advance(-day);
  expect(() => limits.begin('address', 'place')).toThrow(refusal('too-many-attempts', { seconds: 30 }));
  clock.advance(30_000);
  limits.begin('address', 'place');
});

test('requests of one client are admitted a window later', () => {
  const clock = settableClock(someInstant);
  const admits = slidingWindow({ limit: 2, windowSeconds: 60 }, clock);
  expect([admits('192.0.2.1'), admits('192.0.2.1'), admits('192.0.2.1')]).toEqual([true, true, false]);
  clock.advance(-day);
  expect(admits('192.0.2.1')).toBe(false);
  clock.advance(60_000);
  expect(admits('192.0.2.1')).toBe(true);
});
