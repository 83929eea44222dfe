import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultKinds } from '../../../torture/plan.js';
import { torture } from '../../../torture/run.js';

/* The short form of `npm run torture`. A failing cycle is replayed alone: `npm run torture -- --seed 1 --only 4 --short`. */

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tallygate-torture-'));
  await chmod(directory, 0o755);
});
afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));

test('a gateway that meets one fault after the other under load charges complete answers once and failed ones never', async () => {
  const { cycles, unasked } = await torture({ directory, cycles: faultKinds.length, seed: 1, long: false });
  for (const { fault, what } of cycles) if (what.startsWith('skipped')) console.log(`${fault} ${what}`);
  expect(cycles.flatMap(({ cycle, fault, problems }) => problems.map((problem) => [cycle, fault, problem]))).toEqual(
    [],
  );
  expect(new Set(cycles.map(({ fault }) => fault))).toEqual(new Set(faultKinds));
  expect(unasked).toEqual([]);
  const sum = (outcome: 'ok' | 'fail' | 'unknown'): number =>
    cycles.reduce((all, { outcomes }) => all + outcomes[outcome], 0);
  for (const outcome of ['ok', 'fail', 'unknown'] as const)
    expect([outcome, sum(outcome) > 20]).toEqual([outcome, true]);
}, 600_000);
