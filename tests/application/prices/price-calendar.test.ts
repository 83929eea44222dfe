import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AnnouncedPrices, defaultPrices } from '../../../src/application/prices/default-prices.js';
import { followPriceCalendar } from '../../../src/application/prices/price-calendar.js';
import type { Instant } from '../../../src/domain/kernel/instant.js';

/* Built-in prices of a running gateway, on the day from which another price is announced. */

const midnight = Date.UTC(2027, 0, 1);
const restMs = 1_000;

let now: number;
let taken: string[];
let advanced: number[];
let announced: () => AnnouncedPrices | null;
let stop: () => Promise<void>;

beforeEach(() => {
  vi.useFakeTimers();
  now = midnight - 1;
  taken = [];
  advanced = [];
  stop = followPriceCalendar(
    {
      takeDefaultPrices: ({ modelRatio }) => void taken.push(modelRatio.get('gemini-3.8-flash') ?? ''),
      advancePrices: (at) => void advanced.push(at),
      announcePrices: (callback) => {
        announced = callback;
      },
    },
    { now: () => now as Instant },
    restMs,
  );
});
afterEach(async () => {
  await stop();
  vi.useRealTimers();
});

test('an announced price is listed before its day, and not applied yet', async () => {
  await vi.advanceTimersByTimeAsync(3 * restMs);
  expect(taken).toEqual([]);
  expect(announced()).toMatchObject({ from: midnight });
  expect(announced()?.prices.modelRatio.get('gemini-3.8-flash')).toBe('0.75');
});

test('the price of a new day is applied once, without a restart, and is no longer announced', async () => {
  expect(defaultPrices(now as Instant).modelRatio.get('gemini-3.8-flash')).toBe('0.375');
  now = midnight;
  await vi.advanceTimersByTimeAsync(3 * restMs);
  expect(taken).toEqual(['0.75']);
  expect(announced()).toBeNull();
});

test('the records of the price table are advanced to the present at each check', async () => {
  await vi.advanceTimersByTimeAsync(restMs);
  now = midnight;
  await vi.advanceTimersByTimeAsync(restMs);
  expect(advanced).toEqual([midnight - 1, midnight]);
});

test('no price is applied after the calendar was stopped', async () => {
  await stop();
  now = midnight;
  await vi.advanceTimersByTimeAsync(3 * restMs);
  expect(taken).toEqual([]);
});
