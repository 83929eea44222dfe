import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { modelRateLimiter } from '../../../src/relay/admission/rate-limit.js';

const user = UserId(1);

test('requests are counted only where there is a limit: an unlimited user leaves no trace', () => {
  const { admit } = modelRateLimiter({ now: () => Instant(1_800_000_000_000) });
  const limit = { enabled: true, total: 0, successful: 5, windowSeconds: 60 };
  for (let failed = 0; failed < 100; failed++) admit(user, limit)(false);
  const limited = { ...limit, total: 3 };
  for (let request = 0; request < 3; request++) admit(user, limited)(false);
  expect(() => admit(user, limited)).toThrow('at most 3 requests');
});

test('a rate limit decides as a list of all requests of the window would, whatever the order and the failures', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('admit' as const), user: fc.nat(2) }),
    fc.record({ kind: fc.constant('fail' as const), which: fc.nat() }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 90_000 }) }),
  );
  const limits = fc.record({ total: fc.nat(6), successful: fc.nat(4), windowSeconds: fc.constantFrom(30, 60) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), limits, (steps, limit) => {
      let now = 1_800_000_000_000;
      const { admit } = modelRateLimiter({ now: () => Instant(now) });
      const all: { user: number; at: number; failed: boolean }[] = [];
      const open: { request: (typeof all)[number]; conclude: (succeeded: boolean) => void }[] = [];
      for (const step of steps) {
        if (step.kind === 'wait') now += step.ms;
        else if (step.kind === 'fail') {
          const [failing] = open.splice(step.which % Math.max(open.length, 1), 1);
          if (failing === undefined) continue;
          failing.request.failed = true;
          failing.conclude(false);
        } else {
          const recent = all.filter(({ user, at }) => user === step.user && at > now - limit.windowSeconds * 1000);
          const full = limit.total > 0 && recent.length >= limit.total;
          const expected = !full && recent.filter(({ failed }) => !failed).length < limit.successful;
          let conclude: ((succeeded: boolean) => void) | null = null;
          try {
            conclude = admit(UserId(step.user + 1), { enabled: true, ...limit });
          } catch (error) {
            expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
          }
          expect(conclude !== null).toBe(expected);
          if (conclude === null) continue;
          const request = { user: step.user, at: now, failed: false };
          all.push(request);
          open.push({ request, conclude });
        }
      }
    }),
  );
});

test('a user that has rested for two windows is forgotten, even if the clock is set back', () => {
  let now = 1_800_000_000_000;
  const { admit } = modelRateLimiter({ now: () => Instant(now) });
  const limit = { enabled: true, total: 1, successful: 1, windowSeconds: 60 };
  const began = now;
  admit(user, limit)(true);
  for (let shift = 0; shift < 3; shift++) {
    now += 60_000;
    admit(UserId(100 + shift), limit)(true);
  }
  now = began + 1_000;
  expect(() => admit(user, limit)).not.toThrow();
});

test('a window of zero length limits no request', () => {
  const { admit } = modelRateLimiter({ now: () => Instant(1_800_000_000_000) });
  const limit = { enabled: true, total: 1, successful: 1, windowSeconds: 0 };
  for (let request = 0; request < 10; request++) admit(user, limit)(true);
});
