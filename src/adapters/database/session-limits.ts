import type pg from 'pg';

/*
 * What Postgres itself ends, so that nothing goes on there for which nobody waits here any more. A client that merely
 * hangs up leaves its statement waiting for a lock, and so one backend per attempt, up to max_connections.
 */

/** null: as long as it takes. */
export interface SessionLimits {
  readonly statementMs: number | null;
  /** For each lock a statement waits for. */
  readonly lockMs: number | null;
}

/** Migrations, rebuilds, and whoever works at a console. */
export const unlimited: SessionLimits = { statementMs: null, lockMs: null };
/** Short statements by key that calls and sign-ins wait for. */
export const shortStatements: SessionLimits = { statementMs: 5_000, lockMs: 3_000 };
/** Lists and figures somebody looks at. */
export const longQueries: SessionLimits = { statementMs: 10_000, lockMs: 3_000 };
/** Pages of the log. */
export const logReading: SessionLimits = { statementMs: 10_000, lockMs: 5_000 };
/** The one connection that appends; its batches are repeated. */
export const appending: SessionLimits = { statementMs: 8_000, lockMs: 4_000 };
/** A batch folded into a read model; it is repeated. */
export const projecting: SessionLimits = { statementMs: 120_000, lockMs: 10_000 };

/**
 * By statements and not in the start-up message, which poolers between us and Postgres refuse. They win over time limits
 * of the role and the database. The last one is not known everywhere; without it a backend merely ends later.
 */
export async function limitSession(client: pg.ClientBase, { statementMs, lockMs }: SessionLimits): Promise<void> {
  await limitStatements(client, statementMs);
  const limits = client.query(`
    set lock_timeout to ${lockMs ?? 0};
    set idle_in_transaction_session_timeout to ${60_000};
    set tcp_keepalives_idle to 5;
    set tcp_keepalives_interval to 2;
    set tcp_keepalives_count to 3
  `);
  // A connection lost here shows in the next statement.
  await limits.catch(() => null);
  await client.query('set client_connection_check_interval to 1000').catch(() => null);
}

const maxAttempts = 10;
const outOfTime = '57014';

/** Alone and first: the limit there was before, which may be a millisecond, holds until this has been carried out. */
async function limitStatements(client: pg.ClientBase, statementMs: number | null): Promise<void> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const refusal = await client.query(`set statement_timeout to ${statementMs ?? 0}`).then(
      () => null,
      (error: { readonly code?: string }) => error,
    );
    if (refusal?.code !== outOfTime) return;
  }
}
