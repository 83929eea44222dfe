import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { checkConnections, checkDatabase, connectionsNeeded } from '../../src/adapters/database/check-database.js';
import { newClient, type PostgresConnection } from '../../src/adapters/database/postgres.js';
import { postgresAccount } from '../../src/adapters/embedded-postgres/postgres-binaries.js';
import { until } from '../support/until.js';

/* A real PgBouncer between a gateway and Postgres, in each of its modes. */

const installed = (): boolean => {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

const database = `pooled_${randomUUID().replaceAll('-', '')}`;
const running: { readonly child: ChildProcess; readonly folder: string }[] = [];

async function startPooler(mode: string, size: number): Promise<PostgresConnection> {
  const postgres = inject('postgres');
  if ('url' in postgres) throw new Error('The parts are needed');
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-pooler-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  writeFileSync(join(folder, 'users.txt'), `"${postgres.user}" ""\n`);
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
${database} = host=${postgres.host} port=${postgres.port} user=${postgres.user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 200
`,
  );
  const account = postgresAccount();
  const child = spawn('pgbouncer', ['-q', join(folder, 'pgbouncer.ini')], { stdio: 'ignore', ...(account ?? {}) });
  running.push({ child, folder });
  const connection = { host: '127.0.0.1', port, user: postgres.user, database };
  await until(async () => {
    const client = newClient(connection);
    client.on('error', () => {});
    return client.connect().then(
      () => client.end().then(() => true),
      () => null,
    );
  });
  return connection;
}

describe.skipIf(!installed())('a connection pooler before the database (needs PgBouncer)', () => {
  beforeAll(async () => {
    const administrator = newClient(inject('postgres'));
    await administrator.connect();
    await administrator.query(`CREATE DATABASE ${database}`);
    await administrator.end();
  });
  afterAll(async () => {
    for (const { child, folder } of running) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test.each([
    ['transaction', 1],
    ['transaction', 80],
    ['statement', 20],
  ])('is refused by name in the mode "%s" with %i sessions', async (mode, size) => {
    await expect(checkDatabase(await startPooler(mode, size))).rejects.toMatchObject({
      code: 'store-unavailable',
      details: { reason: expect.stringMatching(/pool_mode = session with default_pool_size = 55/) },
    });
  });

  test('passes in the mode "session" with as many connections as a node needs', async () => {
    const connection = await startPooler('session', connectionsNeeded);
    expect(await checkDatabase(connection)).toEqual({ pooled: true });
    await checkConnections(connection, 0);
  });

  test('is refused in the mode "session" with the number of connections that it offers', async () => {
    await expect(checkConnections(await startPooler('session', 20), 0)).rejects.toMatchObject({
      details: { reason: expect.stringContaining(`gives 20 of the ${connectionsNeeded} connections`) },
    });
  });
});
