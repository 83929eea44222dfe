import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimOnlyNode } from '../../src/adapters/only-node.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.js';
import { quietLog } from '../support/quiet-log.js';

describe('the claim to be the only node', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createEmptyDatabase();
  });
  afterAll(() => database.drop());

  const claim = (waitMs: number, log = quietLog) =>
    claimOnlyNode({ connection: database.connection, log, waitMs, onLost: () => undefined });

  test('is refused with a message that says why while another node lives', async () => {
    const release = await claim(0);
    await expect(claim(0)).rejects.toMatchObject({
      code: 'store-unavailable',
      details: { reason: expect.stringContaining('Another Tallygate node') },
    });
    await release();
  });

  test('is had as soon as a predecessor that ends has gone, which is said while it waits', async () => {
    const release = await claim(0);
    let waiting: () => void = () => undefined;
    const told = new Promise<void>((resolve) => {
      waiting = resolve;
    });
    const successor = claim(60_000, { ...quietLog, info: waiting });
    await told;
    await release();
    await (await successor)();
  });
});
