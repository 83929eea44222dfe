import { afterEach, beforeEach, expect, test } from 'vitest';
import { startGateway } from '../../../src/bootstrap/gateway.js';
import { verify } from '../../../src/cli/verify.js';
import { configFor } from '../../support/gateway/test-gateway.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { quietLog } from '../../support/quiet-log.js';

/* A release put back on a log that a newer one has written to. */

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const appendByAnotherRelease = (type: string, version: number) =>
  database.pool.query(
    `insert into events (position, event_id, stream, revision, type, version, data, at)
     select coalesce(max(position), -1) + 1, gen_random_uuid(), 'elsewhere-1', 0, $1, $2, '{}', 0 from events`,
    [type, version],
  );

test.each([
  ['of an unknown type', 'CreditLent', 1, 'this release knows no events of that type'],
  ['in an unknown version', 'OptionChanged', 99, 'stored in version 99; this release reads versions 1 to'],
])(
  'a gateway does not start over an event %s: the error names the event and a remedy',
  async (_, type, version, reason) => {
    await appendByAnotherRelease(type, version);
    const started = startGateway(configFor(database), quietLog);
    await expect(started).rejects.toThrow(`The event 0 of the log, ${type}, cannot be read: ${reason}`);
    await expect(started).rejects.toThrow('run that release, or restore the backup made before the upgrade');
  },
);

test('an event of a newer release that arrives while a gateway serves stops it', async () => {
  const gateway = await startGateway(configFor(database), quietLog);
  try {
    await appendByAnotherRelease('CreditLent', 1);
    expect(await gateway.failed).toContain('CreditLent');
  } finally {
    await gateway.stop();
  }
});

test('tables of a newer release are left unchanged by a gateway and by commands, which report them', async () => {
  await database.pool.query(`insert into migrations (name) values ('9999-lending')`);
  const config = configFor(database);
  const refusal = { code: 'store-unavailable', details: { reason: expect.stringContaining('9999-lending') } };
  await expect(startGateway(config, quietLog)).rejects.toMatchObject(refusal);
  await expect(verify({ config, log: quietLog, args: [] })).rejects.toMatchObject(refusal);
});

test('a ledger of another release is not verified: the error says so instead of failing over a missing table', async () => {
  const verifying = verify({ config: configFor(database), log: quietLog, args: [] });
  await expect(verifying).rejects.toMatchObject({ details: { reason: expect.stringContaining('start the gateway') } });
});
