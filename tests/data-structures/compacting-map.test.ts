import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CompactingMap } from '../../src/data-structures/compacting-map.js';

const key = fc.integer({ min: 0, max: 12 });
const step = fc.oneof(
  fc.tuple(fc.constant('set' as const), key, fc.string()),
  fc.tuple(fc.constant('delete' as const), key, fc.constant('')),
);

test('a compacting map equals a Map, with any insertions and deletions', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const map = new Map<number, string>();
      const brief = new CompactingMap<number, string>();
      for (const [kind, number, value] of steps) {
        if (kind === 'delete') expect(brief.delete(number)).toBe(map.delete(number));
        else {
          map.set(number, value);
          brief.set(number, value);
        }
        expect([brief.size, brief.has(number), brief.get(number)]).toEqual([
          map.size,
          map.has(number),
          map.get(number),
        ]);
      }
      expect(new Map(brief)).toEqual(map);
    }),
  );
});

function withHundred(): CompactingMap<number, string> {
  const brief = new CompactingMap<number, string>();
  for (let number = 0; number < 100; number++) brief.set(number, `value ${number}`);
  return brief;
}

test('an iteration of a compacting map may delete the current entry', () => {
  const brief = withHundred();
  const met: number[] = [];
  for (const [number] of brief) {
    met.push(number);
    brief.delete(number);
  }
  expect(met).toEqual(Array.from({ length: 100 }, (_, number) => number));
  expect(brief.size).toBe(0);
});

test('an entry deleted during an iteration is not visited', () => {
  const brief = withHundred();
  const met: number[] = [];
  for (const [number] of brief) {
    met.push(number);
    // All but every tenth, so a new map takes over on the way.
    if (number === 0) for (let other = 1; other < 100; other++) if (other % 10 !== 0) brief.delete(other);
  }
  expect(met).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
});

interface Filled {
  set(key: number, value: object): unknown;
  delete(key: number): boolean;
}

const usedBytes = (): number => getHeapSpaceStatistics().reduce((sum, space) => sum + space.space_used_size, 0);

/** What collections of the young generation leave of a thousand arrays of 8 kB each, three of which are there at a time. */
function leftBehind(map: Filled): number {
  const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  collect();
  map.set(-1, {});
  // Its first entry's place becomes old.
  for (let times = 0; times < 3; times++) collect({ type: 'minor' });
  const before = usedBytes();
  for (let number = 0; number < 1_000; number++) {
    map.set(number, new Array(1_000).fill(number));
    map.delete(number - 3);
    if (number % 100 === 99) collect({ type: 'minor' });
  }
  return usedBytes() - before;
}

test('a deleted entry is not kept alive by earlier ones', () => {
  setFlagsFromString('--expose-gc');
  expect(leftBehind(new CompactingMap())).toBeLessThan(2_000_000);
});
