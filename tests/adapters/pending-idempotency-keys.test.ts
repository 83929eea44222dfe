import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresPendingIdempotencyKeys } from '../../src/adapters/pending-idempotency-keys.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres/postgres.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('pending idempotency keys are available to the next process until they have an outcome, or are too old', async () => {
  const order = (form: string, key: string, since: number) => ({ form, key, since: Instant(since) });
  const former = postgresPendingIdempotencyKeys(database.pool);
  await former.begin(order('grant', 'first', 3_000));
  await former.begin(order('issue', 'second', 2_000));
  await former.begin(order('issue', 'third', 4_000));
  await former.begin(order('grant', 'first', 5_000));
  await former.end('third');
  await former.end('nobody’s');
  const next = postgresPendingIdempotencyKeys(database.pool);
  expect(await next.left(Instant(1_000))).toEqual([order('issue', 'second', 2_000), order('grant', 'first', 5_000)]);
  expect(await next.left(Instant(2_000))).toEqual([order('grant', 'first', 5_000)]);
  expect(await next.left(Instant(0))).toEqual([order('grant', 'first', 5_000)]);
});
