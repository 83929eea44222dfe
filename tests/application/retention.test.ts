import { beforeEach, describe, expect, test } from 'vitest';
import { retention } from '../../src/application/reactions/log-retention.js';
import { beginning } from '../../src/domain/events/events.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { type SettableClock, settableClock } from '../support/given/fixed-clock.js';

const dayMs = 86_400_000;
const midnight = Date.UTC(2026, 4, 20);
let clock: SettableClock;
let days: number;
let asked: number[];
let notified: number[];
let fails: boolean;
const looking = () =>
  retention(
    {
      settings: () => ({ number: () => days }),
      clock,
      usageLog: {
        async retain(before) {
          if (fails) throw new Failure('store-unavailable');
          asked.push(before);
          return { lines: asked.length, position: beginning };
        },
      },
    },
    ({ lines }) => notified.push(lines),
  );

beforeEach(() => {
  [days, asked, notified, fails] = [30, [], [], false];
  clock = settableClock(Instant(midnight + 5));
});

describe('the retention of the usage log', () => {
  test('is unlimited by default, and where it would begin before 1970', async () => {
    const look = looking();
    for (days of [0, 36_500]) await look();
    expect(asked).toEqual([]);
  });

  test('is in whole days, cleared once each', async () => {
    const look = looking();
    await look();
    await look();
    expect(asked).toEqual([midnight - 30 * dayMs]);
    clock.advance(dayMs);
    await look();
    expect(asked).toEqual([midnight - 30 * dayMs, midnight - 29 * dayMs]);
    expect(notified).toEqual([1, 2]);
  });

  test('takes effect as soon as it is changed', async () => {
    const look = looking();
    await look();
    days = 7;
    await look();
    expect(asked).toEqual([midnight - 30 * dayMs, midnight - 7 * dayMs]);
  });

  test('is retried after a failure', async () => {
    const look = looking();
    fails = true;
    await expect(look()).rejects.toMatchObject({ code: 'store-unavailable' });
    fails = false;
    await look();
    expect(asked).toHaveLength(1);
  });
});
