import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WindowCount } from '../../src/rate-limit/window-count.js';

const windowMs = 1_000;

test('a window count equals a list of all times, with any admissions, refunds and expiries', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('take' as const) }),
    fc.record({ kind: fc.constant('giveBack' as const), which: fc.nat() }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 1_500 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const count = new WindowCount();
      let now = 1_800_000_000_000;
      let kept: number[] = [];
      const open: number[] = [];
      for (const step of steps) {
        if (step.kind === 'wait') now += step.ms;
        count.moveTo(now, windowMs);
        kept = kept.filter((at) => at > now - windowMs);
        if (step.kind === 'take') {
          count.take(now);
          kept.push(now);
          open.push(now);
        } else if (step.kind === 'giveBack' && open.length > 0) {
          const [at = 0] = open.splice(step.which % open.length, 1);
          count.giveBack(at);
          if (kept.includes(at)) kept.splice(kept.indexOf(at), 1);
        }
        expect(count.count).toBe(kept.length);
        expect(count.untilOldestEnds(now, windowMs)).toBe((kept[0] ?? now) + windowMs - now);
      }
    }),
  );
});

test('a request admitted before the clock was set back can still be refunded, once', () => {
  const count = new WindowCount();
  count.take(5_000);
  count.take(9_000);
  count.moveTo(4_000, windowMs);
  expect(count.count).toBe(2);
  count.giveBack(9_000);
  expect(count.count).toBe(1);
  count.moveTo(5_000, windowMs);
  expect(count.count).toBe(0);
  count.giveBack(5_000);
  expect(count.count).toBe(0);
});

test('an expired window uses no memory', () => {
  const count = new WindowCount();
  for (let at = 0; at < 100_000; at++) {
    count.moveTo(at, 100);
    count.take(at);
  }
  expect(count.count).toBe(100);
  expect((count as unknown as { times: readonly number[] }).times.length).toBeLessThan(300);
});
