import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../src/bootstrap/gateway.js';
import { readConfig } from '../../src/config.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { GraphqlClient, serveGraphql } from './graphql-server.js';

/* A gateway nobody has set up yet. */

let database: TestDatabase;
let gateway: Gateway;
let face: Awaited<ReturnType<typeof serveGraphql>>;
let visitor: GraphqlClient;
const logged: string[] = [];

beforeAll(async () => {
  database = await createEmptyDatabase();
  const { connection } = database;
  if ('url' in connection) throw new Error('the test database is expected on a socket');
  const { host, user, database: name, port = 5432 } = connection;
  const config = readConfig({
    PORT: '0',
    SECRET_KEY: 'a-secret-key-for-tests-of-forty-characters',
    DATABASE_URL: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    PROJECTION_LINGER_MS: '5',
  });
  gateway = await startGateway(config, pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }));
  face = await serveGraphql(gateway.application);
  visitor = new GraphqlClient(face.url);
});
afterAll(async () => {
  await face?.stop();
  await gateway?.stop();
  await database?.drop();
});

const setup = 'mutation ($input: SetupInput!) { completeSetup(input: $input) { setUp selfUse demoSite } }';
const shown = (): string =>
  logged.map((line) => (JSON.parse(line) as { code?: string }).code).findLast((code) => code !== undefined) ?? '';
const input = { username: 'keeper', password: 'correct-horse', confirmPassword: 'correct-horse', mode: 'SELF' };

describe('the first set-up', () => {
  test('is announced to all visitors', async () => {
    expect(await visitor.ask('{ status { setUp setUpCodeNeeded } }')).toEqual({
      status: { setUp: false, setUpCodeNeeded: true },
    });
  });
  test('requires the code in the log, from any address', async () => {
    for (const code of ['', 'AAAA-BBBB-CCCC'])
      expect(await visitor.refusal(setup, { input: { ...input, code } })).toMatchObject({ code: 'setup-code-wrong' });
  });
  test('refuses an invalid root user', async () => {
    const refused = async (change: object) => visitor.refusal(setup, { input: { ...input, code: shown(), ...change } });
    expect(await refused({ username: ' ' })).toMatchObject({ code: 'username-blank' });
    expect(await refused({ confirmPassword: 'another-one' })).toMatchObject({ code: 'passwords-differ' });
    expect(await refused({ password: 'short', confirmPassword: 'short' })).toEqual({
      code: 'password-too-short',
      kind: 'invalid',
      details: { field: 'password', min: 8 },
    });
  });
  test('creates the root user and sets the mode, and is closed afterwards', async () => {
    expect(await visitor.ask(setup, { input: { ...input, code: shown() } })).toEqual({
      completeSetup: { setUp: true, selfUse: true, demoSite: false },
    });
    // The answer has opened root's session.
    expect(await visitor.ask('{ me { role quota } }')).toEqual({ me: { role: 'ROOT', quota: 100_000_000 } });
    const late = new GraphqlClient(face.url);
    expect(await late.refusal(setup, { input })).toMatchObject({ code: 'already-set-up', kind: 'refused' });
    expect(await late.ask('{ me { role } }')).toEqual({ me: null });
    await late.signIn('keeper', 'correct-horse');
    expect(await late.ask('{ me { role } }')).toEqual({ me: { role: 'ROOT' } });
  });
});
