import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { durableWrites } from '../../bench/durable-writes.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'durable-writes-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('durable writes take a measured time, and leave no files', async () => {
  const { p50, p99, max } = await durableWrites(directory, 20);
  expect(max).toBeGreaterThan(0);
  expect(p50).toBeLessThanOrEqual(p99);
  expect(p99).toBeLessThanOrEqual(max);
  expect(await readdir(directory)).toEqual([]);
});
