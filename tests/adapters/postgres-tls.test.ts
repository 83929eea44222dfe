import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openPool } from '../../src/adapters/database/postgres.js';
import { certificate, certificateKey } from '../support/inputs/certificate.js';
import { quietLog } from '../support/quiet-log.js';

/* TLS to the database: the embedded Postgres behind a server that answers a request for TLS as Postgres does. */

const sslRequestBytes = 8;
let front: Server;
let folder: string;
let port: number;
let speaksTls = true;

function joinEnds(near: Socket, far: Socket): void {
  for (const socket of [near, far]) socket.on('error', () => {});
  near.pipe(far);
  far.pipe(near);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tallygate-tls-'));
  writeFileSync(join(folder, 'ca.pem'), certificate);
  const postgres = inject('postgres');
  if ('url' in postgres) throw new Error('The parts are needed');
  front = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (first) => {
      const wanted = first.length === sslRequestBytes;
      if (!wanted) return void socket.destroy();
      socket.write(speaksTls ? 'S' : 'N');
      if (!speaksTls) return;
      const secured = new TLSSocket(socket, { isServer: true, cert: certificate, key: certificateKey });
      joinEnds(secured, connect(join(postgres.host, `.s.PGSQL.${postgres.port}`)));
    });
  });
  await new Promise<void>((listening) => front.listen(0, '127.0.0.1', listening));
  port = (front.address() as AddressInfo).port;
});
afterAll(async () => {
  await new Promise((closed) => front.close(closed));
  rmSync(folder, { recursive: true, force: true });
});

const url = (host: string, query: string): string => {
  const postgres = inject('postgres');
  if ('url' in postgres) throw new Error('The parts are needed');
  return `postgres://${postgres.user}@${host}:${port}/${postgres.database}?${query}`;
};

const reasonOf = async (host: string, query: string): Promise<string> => {
  const failure = await openPool({ url: url(host, query) }, quietLog).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'store-unavailable' });
  return (failure as { readonly details: { readonly reason: string } }).details.reason;
};

describe('a connection to Postgres by TLS', () => {
  test('is made where the certificate is trusted by name and is for that host', async () => {
    const pool = await openPool(
      { url: url('localhost', `sslmode=verify-full&sslrootcert=${folder}/ca.pem`) },
      quietLog,
      { size: 1 },
    );
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  test('is refused with how to trust the certificate where no authority has signed it', async () => {
    expect(await reasonOf('localhost', 'sslmode=verify-full')).toMatch(/self-signed certificate.*sslrootcert=/);
  });

  // A name of the loopback address that stands in no certificate.
  test('is refused with the host to name where the certificate is for another', async () => {
    expect(await reasonOf('127.1', `sslmode=verify-full&sslrootcert=${folder}/ca.pem`)).toMatch(
      /altnames.*Name the host in DATABASE_URL as its certificate does/,
    );
  });

  test('is refused with a correction where the certificate file is missing', async () => {
    const reason = await reasonOf('localhost', `sslmode=verify-full&sslrootcert=${folder}/none.pem`);
    expect(reason).toMatch(/no such file.*Correct the path of the file/);
  });

  test('is refused with the setting to switch on where the server has none', async () => {
    speaksTls = false;
    expect(await reasonOf('localhost', 'sslmode=verify-full')).toMatch(/does not support SSL.*Switch TLS on/);
    speaksTls = true;
  });
});
