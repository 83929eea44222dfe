import { describe, expect, test } from 'vitest';
import {
  costing,
  cpuBetween,
  cpuOf,
  microsecondsEach,
  type ProcessStat,
  parseResident,
  parseStat,
  treeOf,
} from '../../bench/cpu.js';

/** As Linux writes it: the fields after the parent up to the times, then user, system and those of ended children. */
const line = (pid: number, name: string, parent: number, times: string): string =>
  `${pid} (${name}) S ${parent} ${pid} ${pid} 0 -1 4194560 2311 0 3 0 ${times} 20 0 11 0 8862 1116053504 13011 184467\n`;

const process = (pid: number, name: string, parent: number, cpuMs = 0): ProcessStat => ({ pid, name, parent, cpuMs });

describe('the status line of a process', () => {
  test('contains its parent and its CPU time, ended children included', () => {
    expect(parseStat(line(712, 'node', 17, '120 30 5 2'))).toEqual({
      pid: 712,
      name: 'node',
      parent: 17,
      cpuMs: 1570,
    });
  });
  test.each(['postgres', 'a b', 'x) S 1 (y', ')', 'two\nlines'])('is parsed with any name: %j', (name) =>
    expect(parseStat(line(9, name, 8, '1 0 0 0'))).toEqual({ pid: 9, name, parent: 8, cpuMs: 10 }),
  );
  test.each(['', '712 (node', '712 (node) S 17', 'x (node) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17'])(
    'is refused if it is malformed: %j',
    (text) => expect(parseStat(text)).toBeNull(),
  );
});

describe('the resident memory of a process', () => {
  test('is in bytes', () => expect(parseResident('Name:\tnode\nVmRSS:\t   52044 kB\nThreads:\t11\n')).toBe(53293056));
  test('is absent for a process that has ended', () => expect(parseResident('Name:\tnode\n')).toBeNull());
});

describe('a tree of processes', () => {
  const all = [
    process(1, 'init', 0, 5000),
    process(20, 'node', 1, 300),
    process(21, 'sh', 20, 1),
    process(22, 'postgres', 21, 40),
    process(23, 'postgres', 22, 60),
    process(24, 'node', 20, 200),
    process(30, 'node', 1, 900),
    process(31, 'postgres', 30, 700),
  ];

  test('contains the children of a process, and theirs, and no others', () => {
    expect(treeOf(all, 20).map(({ pid }) => pid)).toEqual([20, 21, 24, 22, 23]);
    expect(treeOf(all, 99)).toEqual([]);
  });
  test('is counted in two shares, so that the database is separate from the gateway and its workers', () => {
    const counted = {
      gateway: { root: 20, share: 'all-but-postgres' },
      postgres: { root: 20, share: 'postgres' },
    } as const;
    expect(cpuOf(all, counted)).toEqual({ gateway: 501, postgres: 100 });
  });
  test('has cost the difference between two readings', () => {
    expect(cpuBetween({ gateway: 501, postgres: 100 }, { gateway: 751, postgres: 100 })).toEqual({
      gateway: 250,
      postgres: 0,
    });
  });
});

describe('the CPU cost of work', () => {
  test('is the time of the processes while it was done, divided by the number of items', async () => {
    const readings = [{ gateway: 1_000 }, { gateway: 1_250 }];
    const meter = { missing: null, resident: async () => ({}), cpu: async () => readings.shift() ?? {} };
    const { value, cpu } = await costing(meter, async () => 500);
    expect({ value, cpu }).toEqual({ value: 500, cpu: { gateway: 250 } });
    expect(microsecondsEach(cpu, 'gateway', 500)).toBe(500);
    expect(microsecondsEach(cpu, 'gateway', 0)).toBe(250_000);
  });
  test('is not a number where the system does not report it', () =>
    expect(microsecondsEach({}, 'gateway', 5)).toBeNaN());
});
