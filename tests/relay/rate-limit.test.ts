import { expect, test } from 'vitest';
import { UserId } from '../../src/domain/ids.js';
import { Instant } from '../../src/domain/instant.js';
import { modelRateLimiter } from '../../src/relay/call/rate-limit.js';

const user = UserId(1);

test('requests are counted from when there is a limit to them: a user who may make any number leaves no trace', () => {
  const { admit } = modelRateLimiter({ now: () => Instant(1_800_000_000_000) });
  const limit = { enabled: true, total: 0, successful: 5, windowSeconds: 60 };
  for (let failed = 0; failed < 100; failed++) admit(user, limit)(false);
  const limited = { ...limit, total: 3 };
  for (let request = 0; request < 3; request++) admit(user, limited)(false);
  expect(() => admit(user, limited)).toThrow('at most 3 requests');
});
