import type pg from 'pg';
import type { NodeClaim } from '../database/only-node.js';
import type { PostgresConnection } from '../database/postgres.js';
import type { Log } from '../log.js';
import type { EventLogEngine } from './event-log-engine.js';
import { openPostgresEventStore } from './postgres-event-store.js';

/** The same for as long as the data of this Postgres exist. */
export async function postgresLogIdentity(pool: Pick<pg.Pool, 'query'>): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('SELECT system_identifier::text AS id FROM pg_control_system()');
  return rows[0]?.id ?? '';
}

interface PostgresEventLogOptions {
  readonly connection: PostgresConnection;
  readonly pool: Pick<pg.Pool, 'query'>;
  readonly claim: Pick<NodeClaim, 'beginEpoch'>;
  readonly log: Log;
}

/** One writer at a time by an epoch that each append is checked against, under the lock that puts appends in order. */
export const postgresEventLog = ({ connection, pool, claim, log }: PostgresEventLogOptions): EventLogEngine => ({
  identity: () => postgresLogIdentity(pool),
  async claimWriter(onLost) {
    const { epoch, head } = await claim.beginEpoch();
    const fence = { epoch, onLost };
    return { head, open: (options = {}) => openPostgresEventStore({ connection, log, fence, ...options }) };
  },
});
