import { expect, test } from 'vitest';
import { beginning, earliestOf, latestOf, Position } from '../../../src/domain/events/events.js';

const [three, seventy, nine] = [Position(3), Position(70), Position(900)];

test('positions can be compared, while calculating with them or comparing them with counts does not compile', () => {
  expect([three < seventy, seventy > nine, three <= nine, beginning < three]).toEqual([true, false, true, true]);
  const calculations = [
    // @ts-expect-error a difference is no number of events
    () => seventy - three,
    // @ts-expect-error there may be no event at the next place
    () => three + 1,
    // @ts-expect-error a place is no amount
    () => seventy * 2,
    // @ts-expect-error nor is it one in disguise
    () => Math.max(three, seventy),
    // @ts-expect-error a count is compared with counts
    () => three < 7,
    // @ts-expect-error and given where counts are asked for
    (): number => seventy,
  ];
  expect(calculations).toHaveLength(6);
});

test('the first and the last of several positions can be found, and the beginning for an empty list', () => {
  expect(latestOf([three, nine, seventy])).toBe(nine);
  expect(latestOf([])).toBe(beginning);
  expect(earliestOf(seventy, three, nine)).toBe(three);
  expect(earliestOf(seventy)).toBe(seventy);
});

test.each([
  ['text of a position', '12', 12],
  ['an integer of any size within the number range', 9_007_199_254_740_991n, Number.MAX_SAFE_INTEGER],
])('%s is read as a position', (_, raw, number) => {
  expect(Number(Position(raw))).toBe(number);
});

test.each([[-2], [1.5], [9_007_199_254_740_992n], ['x']])('%s is refused as a position', (raw) => {
  expect(() => Position(raw)).toThrow();
});
