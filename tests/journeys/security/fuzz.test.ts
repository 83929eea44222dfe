import { afterAll, beforeAll, expect, test } from 'vitest';
import { fuzzLimits } from '../../../fuzz/limits.js';
import { fuzz } from '../../../fuzz/run.js';
import { configFor } from '../../support/gateway/test-gateway.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/postgres/postgres.js';

/* The short form of `npm run fuzz`. A finding names the number of its request: `npm run fuzz -- --seed 1 --only 17`. */

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

test('fifteen hundred hostile requests to every face cause no internal error, no stopped read model, and no unbalanced ledger', async () => {
  const report = await fuzz(configFor(database, fuzzLimits), { requests: 1_500, seed: 1, concurrency: 8 });
  expect(report.findings).toEqual([]);
  expect(report.requests).toBe(1_500);
}, 600_000);
