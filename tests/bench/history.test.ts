import { describe, expect, test } from 'vitest';
import { callAt, type Population, unevenly } from '../../bench/history.js';
import { randomFrom } from '../../src/demo/random.js';
import { callDecider } from '../../src/domain/call/call.js';
import { chargeOf } from '../../src/domain/pricing/pricing.js';

const population: Population = {
  callers: [
    { userId: 7, apiKeyId: 12, apiKeyName: 'one' },
    { userId: 8, apiKeyId: 13, apiKeyName: 'two' },
  ],
  channelIds: [3, 4],
  models: ['gpt-4o', 'gpt-4o-mini'],
};
const someTime = 1_770_000_000_000;

const made = (seed: number, count: number) => {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, at) => callAt(someTime + at * 1000, population, random));
};
const facts = (seed: number) => made(seed, 50).map(({ events }) => events.map(({ at, event }) => ({ at, event })));

describe('generated calls', () => {
  test('consist of a reservation and its outcome, in a stream of their own, charged by their usage', () => {
    const calls = made(1, 500);
    expect(new Set(calls.map(({ stream }) => stream)).size).toBe(500);
    for (const { events } of calls) {
      const [reserved, outcome] = events.map(({ event }) => event);
      expect(reserved?.type).toBe('CallReserved');
      const after = callDecider.evolve(callDecider.initial, events[0].event);
      const ended = callDecider.evolve(after, events[1].event);
      expect(['settled', 'released']).toContain(ended.status);
      if (outcome?.type === 'CallSettled') expect(outcome.charged).toBe(chargeOf(outcome.usage, outcome.price));
      expect(events[1].at).toBeGreaterThan(events[0].at);
    }
  });
  test('include a caller that disconnected from a channel', () => {
    const [first] = population.callers;
    const byLast = (early: boolean) => {
      const random = randomFrom(1);
      const calls = Array.from({ length: 300 }, () => callAt(someTime, population, random, early));
      const settled = calls.map(({ events }) => events[1].event).filter(({ type }) => type === 'CallSettled');
      return new Set(
        settled.flatMap((event) => ('channelId' in event && event.channelId === 4 ? [event.facts.userId] : [])),
      );
    };
    expect(byLast(true)).toEqual(new Set([7, 8]));
    expect(byLast(false)).toEqual(new Set([8]));
    expect(first?.userId).toBe(7);
  });
  test('are the same for the same seed', () => {
    expect(facts(7)).toEqual(facts(7));
    expect(facts(7)).not.toEqual(facts(8));
  });
});

test('random draws are uneven: of ten, the first is drawn nearly every second time, and each eventually', () => {
  const random = randomFrom(3);
  const drawn = Array.from({ length: 10_000 }, () => unevenly([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], random));
  const first = drawn.filter((value) => value === 0).length;
  expect(first).toBeGreaterThan(4_300);
  expect(first).toBeLessThan(5_000);
  expect(new Set(drawn).size).toBe(10);
});
