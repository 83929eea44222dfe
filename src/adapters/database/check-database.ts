import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { Failure } from '../../domain/kernel/failure.js';
import { newClient, type PostgresConnection, whereIs } from './postgres.js';
import { unusable } from './postgres-advice.js';
import { longQueries } from './session-limits.js';

/* What a database that is not ours must offer, looked at before anything is written to it. */

/** Connections of a node under full load, with one for each read model that is folding. */
export const connectionsNeeded = 55;
/** Older ones lack what the tables are made with, and get no fixes any more. */
const oldestVersion = 14;
const givenMs = 5_000;

interface Facts {
  readonly pid: number;
  readonly version: number;
  readonly encoding: string;
  readonly recovering: boolean;
  readonly readOnly: string;
  readonly schema: string | null;
  readonly role: string;
  readonly mayCreateTables: boolean | null;
  readonly mayCreateSchemas: boolean;
  /** Connections that the server, the role and the database allow, the least of them. */
  readonly connections: number;
  /** A table of ours that belongs to another role; null: there is none. */
  readonly foreign: string | null;
  readonly owner: string | null;
}

const facts = `
  SELECT pg_backend_pid() AS pid,
    current_setting('server_version_num')::int / 10000 AS version,
    current_setting('server_encoding') AS encoding,
    pg_is_in_recovery() AS recovering,
    current_setting('transaction_read_only') AS "readOnly",
    current_schema() AS schema,
    current_user AS role,
    has_schema_privilege(current_schema(), 'CREATE') AS "mayCreateTables",
    has_database_privilege(current_database(), 'CREATE') AS "mayCreateSchemas",
    least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
      (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user),
      (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database())
    ) AS connections,
    theirs.relname AS foreign, pg_get_userbyid(theirs.relowner) AS owner
  FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT relname, relowner FROM pg_class
    WHERE relnamespace = to_regnamespace(quote_ident(current_schema())) AND relname IN ('migrations', 'events')
      AND to_regclass('migrations') IS NOT NULL AND NOT pg_has_role(relowner, 'USAGE')
    ORDER BY relname LIMIT 1
  ) AS theirs ON true`;

const noSessions =
  'a pooler hands each transaction another session of Postgres, as PgBouncer does with pool_mode = transaction or ' +
  `statement. Use pool_mode = session with default_pool_size = ${connectionsNeeded} or more, or name Postgres itself in DATABASE_URL.`;

const tooFew = (given: number): string =>
  `it gives ${given} of the ${connectionsNeeded} connections that a gateway may need. Raise max_connections of Postgres, ` +
  'the CONNECTION LIMIT of the role or the database, or default_pool_size of the pooler.';

const refusal = (connection: PostgresConnection, problem: string): Failure =>
  new Failure('store-unavailable', { reason: `Postgres at ${whereIs(connection)} cannot be used: ${problem}` });

/** Why this database cannot be used, with what to do about it; null: it can. */
function problemWith(found: Facts): string | null {
  const { version, encoding, recovering, readOnly, schema, role, mayCreateTables, mayCreateSchemas } = found;
  if (version < oldestVersion) return `it is version ${version}. Use Postgres ${oldestVersion} or newer.`;
  if (encoding !== 'UTF8')
    return `its encoding is ${encoding}, which has no place for all texts. Create one with ENCODING 'UTF8' TEMPLATE template0.`;
  if (recovering) return 'it is a replica, which takes no writes. Name the primary in DATABASE_URL.';
  if (readOnly === 'on')
    return 'its transactions are read-only. Switch default_transaction_read_only off for this role and database.';
  if (schema === null)
    return `no schema of the search_path exists for the role "${role}". Set it to one that does, such as public.`;
  if (mayCreateTables !== true)
    return `the role "${role}" may not create tables in the schema "${schema}". Make it the owner of the database (ALTER DATABASE … OWNER TO …), or GRANT CREATE ON SCHEMA "${schema}" to it.`;
  if (!mayCreateSchemas)
    return `the role "${role}" may not create schemas, and each read model has one. Make it the owner of the database, or GRANT CREATE ON DATABASE to it.`;
  if (found.connections < connectionsNeeded) return tooFew(found.connections);
  if (found.foreign !== null)
    return `the table "${found.foreign}" belongs to the role "${found.owner}". Use that role in DATABASE_URL, or make "${role}" a member of it.`;
  return null;
}

/**
 * Whether a pooler stands before the database. Throws Failure `store-unavailable`, whose `reason` names what is wrong
 * with the database and what to do about it. Changes nothing.
 */
export async function checkDatabase(connection: PostgresConnection): Promise<{ readonly pooled: boolean }> {
  const client = newClient(connection, longQueries);
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<Facts>(facts);
    const [found] = rows;
    const problem = found === undefined ? 'it answers no question.' : problemWith(found);
    if (problem !== null) throw refusal(connection, problem);
    if (found?.pid === reportedProcessId(client)) return { pooled: false };
    if (!(await keepsSession(client, connection))) throw refusal(connection, noSessions);
    return { pooled: true };
  } catch (error) {
    throw unusable(whereIs(connection), error);
  } finally {
    await client.end().catch(() => null);
  }
}

/** The process id reported as the connection was made; a pooler reports one of its own invention. */
const reportedProcessId = (client: pg.Client): number | null =>
  (client as pg.Client & { readonly processID: number | null }).processID;

/** Rounds in which a pooler that hands sessions round would have to choose the same one by chance. */
const rounds = 3;

/**
 * Whether a connection has the same session of Postgres in each transaction, while another one is at work. Locks,
 * prepared statements and notifications need it.
 */
async function keepsSession(client: pg.Client, connection: PostgresConnection): Promise<boolean> {
  const other = newClient(connection, longQueries);
  other.on('error', () => {});
  const sessionOf = async (asked: pg.Client): Promise<number | undefined> =>
    (await asked.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
  try {
    await other.connect();
    for (let round = 0; round < rounds; round++) {
      const before = await sessionOf(client);
      // Takes a session that is free and keeps it until its end.
      await other.query('BEGIN');
      const kept = (await sessionOf(other)) !== before && (await sessionOf(client)) === before;
      await other.query('ROLLBACK');
      if (!kept) return false;
    }
    return true;
  } catch (error) {
    if (/transaction blocks not allowed/.test(String(error))) return false;
    throw error;
  } finally {
    await other.end().catch(() => null);
  }
}

/** Between two tries to have as many connections as are needed. */
const pauseMs = 250;

/**
 * Opens as many connections as a node may need beside those it has, and closes them: what a pooler allows is shown by
 * no setting. Throws Failure `store-unavailable` when they are not given in time.
 */
export async function checkConnections(
  connection: PostgresConnection,
  open: number,
  patienceMs = givenMs,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  const clients: pg.Client[] = [];
  const take = async (): Promise<void> => {
    const client = newClient(connection, longQueries);
    client.on('error', () => {});
    await client.connect().then(
      () => clients.push(client),
      () => client.end().catch(() => null),
    );
  };
  try {
    for (;;) {
      await Promise.all(Array.from({ length: connectionsNeeded - open - clients.length }, take));
      const given = clients.length + open;
      if (given >= connectionsNeeded) return;
      // A node that has just ended gives its connections back one by one.
      if (performance.now() > deadline) throw refusal(connection, tooFew(given));
      await pause(pauseMs);
    }
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => null)));
  }
}
