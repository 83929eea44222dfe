import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { checkConnections, checkDatabase, connectionsNeeded } from '../../../src/adapters/database/check-database.js';
import { migrate } from '../../../src/adapters/database/migrate.js';
import { newClient, openPool, type PostgresConnection } from '../../../src/adapters/database/postgres.js';
import { quietLog } from '../../support/quiet-log.js';

/* What an operator may have set up otherwise than a gateway needs it, with a real server. */

const administrator = async (...statements: string[]): Promise<void> => {
  const client = newClient(inject('postgres'));
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
};

/** Nothing is dropped: the server ends with the run, and each drop is a checkpoint. */
const name = (what: string): string => `${what}_${randomUUID().replaceAll('-', '')}`;
const [role, other, narrow] = [name('role'), name('other'), name('narrow')];

/** A database of its own; `options` go behind CREATE DATABASE. */
async function newDatabase(options = ''): Promise<PostgresConnection & { readonly database: string }> {
  const database = name('db');
  await administrator(`CREATE DATABASE ${database} ${options}`);
  return { ...inject('postgres'), database } as PostgresConnection & { readonly database: string };
}

const as = <Connection extends PostgresConnection>(user: string, connection: Connection): Connection => ({
  ...connection,
  user,
});

async function reasonOf(connection: PostgresConnection): Promise<string> {
  const failure = await checkDatabase(connection).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'store-unavailable' });
  const { reason } = (failure as { readonly details: { readonly reason: string } }).details;
  expect(reason).toMatch(/^Postgres at .*, database db_\w+ cannot be used/);
  return reason;
}

beforeAll(() =>
  administrator(
    `CREATE ROLE ${role} LOGIN`,
    `CREATE ROLE ${other} LOGIN`,
    `CREATE ROLE ${narrow} LOGIN CONNECTION LIMIT 20`,
  ),
);
describe('the check of the configured database', () => {
  test('passes when its role owns it, without a pooler', async () => {
    expect(await checkDatabase(as(role, await newDatabase(`OWNER ${role}`)))).toEqual({ pooled: false });
  });

  test('passes when its role may create tables and schemas without owning it', async () => {
    const connection = await newDatabase();
    await administrator(`GRANT CREATE ON DATABASE ${connection.database} TO ${role}`);
    const owner = newClient(connection);
    await owner.connect();
    await owner.query(`GRANT CREATE ON SCHEMA public TO ${role}`);
    await owner.end();
    expect(await checkDatabase(as(role, connection))).toEqual({ pooled: false });
  });

  test('is refused when its encoding is not UTF8', async () => {
    const connection = await newDatabase(`OWNER ${role} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    expect(await reasonOf(as(role, connection))).toMatch(/encoding is LATIN1.*ENCODING 'UTF8'/);
  });

  test('is refused when its role may not create tables, as since Postgres 15', async () => {
    expect(await reasonOf(as(role, await newDatabase()))).toMatch(
      /may not create tables in the schema "public".*OWNER TO/,
    );
  });

  test('is refused when its role may not create schemas', async () => {
    const connection = await newDatabase();
    const owner = newClient(connection);
    await owner.connect();
    await owner.query(`GRANT CREATE ON SCHEMA public TO ${role}`);
    await owner.end();
    expect(await reasonOf(as(role, connection))).toMatch(/may not create schemas/);
  });

  test('is refused when its transactions are read-only', async () => {
    const connection = await newDatabase(`OWNER ${role}`);
    await administrator(`ALTER DATABASE ${connection.database} SET default_transaction_read_only = on`);
    expect(await reasonOf(as(role, connection))).toMatch(/read-only.*default_transaction_read_only/);
  });

  test('is refused when no schema of its search_path exists', async () => {
    const connection = await newDatabase(`OWNER ${role}`);
    await administrator(`ALTER DATABASE ${connection.database} SET search_path = nowhere`);
    expect(await reasonOf(as(role, connection))).toMatch(/no schema of the search_path exists/);
  });

  test('is refused when another role owns its tables', async () => {
    const connection = await newDatabase(`OWNER ${other}`);
    const pool = await openPool(as(other, connection), quietLog, { size: 1 });
    await migrate(pool);
    await pool.query(`GRANT CREATE ON SCHEMA public TO ${role}`);
    await pool.query(`GRANT CREATE ON DATABASE ${connection.database} TO ${role}`);
    await pool.end();
    expect(await reasonOf(as(role, connection))).toMatch(
      new RegExp(`the table "events" belongs to the role "${other}"`),
    );
  });

  test.each([
    ['role', () => newDatabase(`OWNER ${narrow}`), narrow, 20],
    ['database', () => newDatabase(`OWNER ${role} CONNECTION LIMIT 30`), role, 30],
  ])(
    'is refused when the limit of the %s permits fewer connections than a node needs',
    async (_, make, user, limit) => {
      expect(await reasonOf(as(user, await make()))).toContain(
        `gives ${limit} of the ${connectionsNeeded} connections`,
      );
    },
  );

  test('is refused with the message of Postgres when no connection is left', async () => {
    const connection = as(role, await newDatabase(`OWNER ${role} CONNECTION LIMIT 1`));
    const holding = newClient(connection);
    await holding.connect();
    expect(await reasonOf(connection)).toMatch(/too many connections for database.*Raise the limit of the database/);
    await holding.end();
  });

  test('is refused when its role may not connect', async () => {
    const connection = await newDatabase();
    await administrator(`REVOKE CONNECT ON DATABASE ${connection.database} FROM PUBLIC`);
    expect(await reasonOf(as(role, connection))).toMatch(/permission denied for database.*GRANT CONNECT/);
  });
});

describe('the connections that a node needs', () => {
  test('are opened and closed again where they are available', async () => {
    const connection = as(role, await newDatabase(`OWNER ${role}`));
    await checkConnections(connection, connectionsNeeded - 5);
  });

  test('are counted where too few are available', async () => {
    const connection = as(role, await newDatabase(`OWNER ${role} CONNECTION LIMIT 3`));
    const failure = await checkConnections(connection, connectionsNeeded - 5, 0).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'store-unavailable' });
    const { reason } = (failure as { readonly details: { readonly reason: string } }).details;
    const given = Number(new RegExp(`gives (\\d+) of the ${connectionsNeeded} `).exec(reason)?.[1]);
    // Postgres counts those it is about to refuse as well, so of several that come at once fewer than the limit may stay.
    expect(given).toBeGreaterThanOrEqual(connectionsNeeded - 5);
    expect(given).toBeLessThanOrEqual(connectionsNeeded - 2);
  });
});
