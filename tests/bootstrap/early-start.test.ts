import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { givenEarlyStart } from '../../src/bootstrap/early-start.js';
import { startGateway } from '../../src/bootstrap/gateway.js';
import { readConfig } from '../../src/config.js';
import { postmasterOf } from '../support/gateway/gateway-process.js';
import { quietLog } from '../support/quiet-log.js';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tallygate-head-start-'));
});
afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));

test('early readers continue when Postgres has been started, which then ends with the gateway', async () => {
  const dataDir = join(directory, 'data');
  const config = readConfig({ DATA_DIR: dataDir, PORT: '0' });
  const begun = await givenEarlyStart(config, quietLog);
  const opened = vi.fn();
  void begun.opening.then(opened);
  // Had it been waited for, this would be reported by now: Postgres takes many turns of the loop until it answers.
  await new Promise(setImmediate);
  expect(opened).not.toHaveBeenCalled();
  await begun.opening;
  expect(await postmasterOf(dataDir)).not.toBeNull();
  const gateway = await startGateway(config, quietLog, { begun });
  expect((await fetch(`${gateway.url}/api/status`)).status).toBe(200);
  await gateway.stop();
  expect(await postmasterOf(dataDir)).toBeNull();
});

test('a database that cannot be started fails early readers, and prevents the start of the gateway', async () => {
  const dataDir = join(directory, 'a file');
  await writeFile(dataDir, '');
  const config = readConfig({ DATA_DIR: dataDir, PORT: '0' });
  const begun = await givenEarlyStart(config, quietLog);
  await expect(startGateway(config, quietLog, { begun })).rejects.toThrow(/a file/);
  await expect(begun.opening).rejects.toThrow(/a file/);
});

test('an external database is not waited for, and early work ends with a gateway that does not start', async () => {
  const config = readConfig({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing', DATA_DIR: directory, PORT: '0' });
  const begun = await givenEarlyStart(config, quietLog);
  expect((await begun.opening).embedded).toBeNull();
  const stop = vi.spyOn(begun.projections, 'stop');
  await expect(startGateway(config, quietLog, { begun })).rejects.toMatchObject({
    code: 'store-unavailable',
  });
  expect(stop).toHaveBeenCalled();
});
