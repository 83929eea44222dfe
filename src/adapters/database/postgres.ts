import { once } from 'node:events';
import pg from 'pg';
import { representable } from '../../domain/kernel/quota.js';
import type { Log } from '../log.js';
import { unusable } from './postgres-advice.js';
import { limitSession, type SessionLimits, unlimited } from './session-limits.js';

/* The only place that opens connections to Postgres and decides how its values arrive. */

/** Where Postgres is: a URL, or its parts. A `host` that starts with `/` is the directory of a unix socket. */
export type PostgresConnection =
  | { readonly url: string }
  | {
      readonly host: string;
      readonly port?: number;
      readonly user: string;
      readonly database: string;
      readonly password?: string;
    };

/** The type numbers (oid) of bigint and numeric. */
export const int8 = 20;
const numeric = 1700;

/** bigint comes as text; everything we keep in one (positions, instants, one amount) fits a safe integer, or is damaged. */
export function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The bigint ${text} is not a safe integer`);
  return value;
}

/**
 * Sums are numeric, which has no end: one that no number represents is given as the nearest whole one. Who
 * needs it exactly asks for its text.
 */
const parseNumeric = (text: string): number => representable(Number(text));

const ourParsers: ReadonlyMap<number, (text: string) => number> = new Map([
  [int8, parseInt8],
  [numeric, parseNumeric],
]);

const parsers: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => ourParsers.get(oid) ?? pg.types.getTypeParser(oid, format),
};

/** For reaching the server, and again for the first words with it. */
const connectingMs = 5_000;

/** For the server to close a connection that we have ended. */
const hangingUpMs = 2_000;

const settings = (connection: PostgresConnection): pg.ClientConfig => ({
  ...('url' in connection ? { connectionString: connection.url } : connection),
  application_name: 'tallygate',
  connectionTimeoutMillis: connectingMs,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
  types: parsers,
});

/** How much longer we wait than the server works: its own "out of time" shall arrive, and frees the connection. */
const answerMarginMs = 3_000;

/** undefined: as long as it takes. A server that is gone without a word is otherwise waited for by the quarter hour. */
const answerWithin = ({ statementMs }: SessionLimits): number | undefined =>
  statementMs === null ? undefined : statementMs + answerMarginMs;

/** Host and port, or socket directory, and database: what an operator may see; never the password. */
export function whereIs(connection: PostgresConnection): string {
  try {
    const { host, port, database } = new pg.Client(settings(connection));
    const target = host.startsWith('/') ? `the socket in ${host}` : `${host}:${port}`;
    return `${target}, database ${database}`;
  } catch {
    // A certificate that DATABASE_URL names cannot be read; the text itself has been looked at before.
    return 'the address in DATABASE_URL';
  }
}

/** A single connection outside any pool, not yet connected. The caller must listen to its `error` event. */
export function newClient(connection: PostgresConnection, limits: SessionLimits = unlimited): pg.Client {
  const client = new pg.Client({ ...settings(connection), query_timeout: answerWithin(limits) });
  const connect = client.connect.bind(client) as () => Promise<pg.Client>;
  // Connected means that the limits are set: nothing runs without them, and nothing queues behind them.
  client.connect = (async () => {
    await connect();
    let silent = false;
    const timeout = setTimeout(() => {
      silent = true;
      client.connection.stream.destroy();
    }, connectingMs);
    await limitSession(client, limits);
    clearTimeout(timeout);
    if (silent) throw new Error('timeout: Postgres fell silent as the connection was made');
    return client;
  }) as typeof client.connect;
  return client;
}

/**
 * A pool that has answered once. Throws Failure `store-unavailable`, whose `reason` says to the operator what to start,
 * when nobody answers or the answer is no.
 */
export async function openPool(
  connection: PostgresConnection,
  log: Log,
  { size = 10, limits = unlimited }: { readonly size?: number; readonly limits?: SessionLimits } = {},
): Promise<pg.Pool> {
  const pool = new pg.Pool({
    ...settings(connection),
    max: size,
    query_timeout: answerWithin(limits),
    onConnect: (client) => limitSession(client, limits),
  });
  // Without a listener a restart of Postgres ends the process; idle connections are replaced on the next use.
  pool.on('error', ({ message }) => log.warn({ reason: message }, 'lost an idle Postgres connection'));
  // One that is in use and just asks nothing, as between two statements of a transaction, is not watched by the pool:
  // whoever asks it next is told that it is gone, and the pool does not take it back.
  pool.on('connect', (client) => client.on('error', () => {}));
  endWithConnections(pool);
  try {
    await pool.query('SELECT 1');
    return pool;
  } catch (error) {
    await pool.end();
    throw unusable(whereIs(connection), error);
  }
}

/**
 * A pool's own end is over when it has said goodbye. Whoever stops Postgres then would cut sessions that are still being
 * closed, and both sides would warn of it: an end waits until the server has hung up, unless it has fallen silent.
 */
function endWithConnections(pool: pg.Pool): void {
  const open = new Set<pg.PoolClient>();
  pool.on('connect', (client) => void open.add(client));
  pool.on('remove', (client) => void open.delete(client));
  const end = pool.end.bind(pool) as () => Promise<void>;
  pool.end = (async () => {
    await end();
    const signal = AbortSignal.timeout(hangingUpMs);
    while (open.size > 0 && !signal.aborted) await once(pool, 'remove', { signal }).catch(() => {});
  }) as typeof pool.end;
}
