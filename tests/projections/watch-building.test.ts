import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Position } from '../../src/domain/events/events.js';
import type { ReadModelState } from '../../src/projections/engine/runner.js';
import { percentOf, watchBuilding } from '../../src/projections/engine/watch-building.js';

/* What is said of read models on their way to the end of the log, and what becomes of those they replace. */

const head = Position(99);
const feed = { estimateBetween: (after: Position, upTo: Position) => Number(upTo) - Number(after) };
let states: ReadModelState[];
let lines: [string, object][];
let unreadable: string[];
let dropped: string[][];
let dropFails: boolean;
let stop: () => Promise<void>;

const state = (name: string, position: number, changes: Partial<ReadModelState> = {}): ReadModelState => ({
  name,
  version: 2,
  position: Position(position),
  head,
  leading: true,
  status: Position(position) < head ? 'building' : 'running',
  failure: null,
  unreadable: false,
  quarantined: 0,
  ...changes,
});

function watch(sayMs = 60_000): void {
  const say = (facts: object, message: string) => void lines.push([message, facts]);
  stop = watchBuilding({
    progress: { status: () => states },
    feed,
    head,
    async dropOld(kept) {
      if (dropFails) throw new Error('not now');
      dropped.push([...kept]);
      return [];
    },
    unreadable: (reason) => unreadable.push(reason),
    log: { info: say, warn: say, error: say },
    lookMs: 1,
    sayMs,
  });
}

beforeEach(() => {
  [lines, unreadable, dropped, dropFails] = [[], [], [], false];
});
afterEach(() => stop());

test('nothing is logged where all read models are complete, and tables of older versions are dropped', async () => {
  states = [state('users', 99), state('usage_log', 99)];
  watch();
  await vi.waitFor(() => expect(dropped).toEqual([[]]), 10_000);
  expect(lines).toEqual([]);
});

test('the beginning and the end of a build are logged with figures; the replaced tables stay until then', async () => {
  states = [state('users', 99), state('usage_log', -1)];
  watch();
  await vi.waitFor(() => expect(dropped).toEqual([['usage_log']]), 10_000);
  expect(lines).toEqual([
    [
      'a read model is being built from the log; what is read from it is incomplete',
      { readModel: 'usage_log_v2', events: 100 },
    ],
  ]);
  states = [state('users', 99), state('usage_log', 99)];
  await vi.waitFor(() => expect(dropped).toEqual([['usage_log'], []]), 10_000);
  expect(lines.slice(1)).toEqual([
    ['a read model has been built', { readModel: 'usage_log_v2', events: 100, seconds: expect.any(Number) }],
  ]);
});

test('the progress of a build is logged at intervals', async () => {
  states = [state('usage_log', 42)];
  watch(0);
  const line = ['a read model is being built', { readModel: 'usage_log_v2', percent: 43 }];
  await vi.waitFor(() => expect(lines).toContainEqual(line), 10_000);
});

test('the tables that a stopped build was to replace are kept', async () => {
  const failure = { position: Position(8), type: 'CallSettled', error: 'out of range' };
  states = [state('users', 99), state('usage_log', 7, { status: 'stopped', failure })];
  watch();
  await vi.waitFor(() => expect(dropped).toEqual([['usage_log']]), 10_000);
  states = [state('users', 99), state('usage_log', 99)];
  await vi.waitFor(() => expect(dropped).toEqual([['usage_log'], []]), 10_000);
  expect(unreadable).toEqual([]);
});

test('an event that stops a read model is logged once, and no more tables are dropped', async () => {
  states = [state('usage_log', 7)];
  watch();
  await vi.waitFor(() => expect(dropped).toHaveLength(1), 10_000);
  const failure = { position: Position(8), type: 'CreditLent', error: 'a newer release wrote it' };
  states = [state('usage_log', 7, { status: 'stopped', failure, unreadable: true })];
  await vi.waitFor(() => expect(unreadable).toEqual(['a newer release wrote it']), 10_000);
  expect(dropped).toHaveLength(1);
});

test('a table that cannot be dropped now is tried again later', async () => {
  dropFails = true;
  states = [state('users', 99)];
  watch(0);
  await vi.waitFor(() => expect(lines[0]?.[0]).toContain('cannot be dropped now'), 10_000);
  dropFails = false;
  await vi.waitFor(() => expect(dropped).toEqual([[]]), 10_000);
});

test.each([
  [-1, 99, 0],
  [42, 99, 43],
  [98, 99, 99],
  [99, 99, 100],
  [-1, -1, 100],
])('event %i of a log that ends at %i is %i %% of its build', (position, end, percent) => {
  expect(percentOf({ position: Position(position), head: Position(end) }, feed)).toBe(percent);
});
