import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { isTransient } from '../../domain/errors/transient-error.js';
import type { Position } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { Log } from '../log.js';
import { newClient, type PostgresConnection } from './postgres.js';
import { shortStatements } from './session-limits.js';

/** Any number nobody else uses: the advisory lock that the one node of a database holds. */
const nodeLock = 7_411_202_611;
const retryMs = 500;

const secondNode =
  'Another Tallygate node serves this database. Stop one of the two: several nodes need a shared quota gate, which this version does not have.';
const cameBetween = 'Another Tallygate node has served this database while this one had lost it.';

export interface OnlyNodeOptions {
  readonly connection: PostgresConnection;
  readonly log: Log;
  /** How long a predecessor that is about to end is waited for. */
  readonly waitMs: number;
  /** Another node took over while the database was out of reach: this one must not admit anything any more. */
  readonly onLost: (reason: string) => void;
}

/** The time in which one node writes the log. */
interface Epoch {
  readonly epoch: number;
  /** The end of the log as it began: nothing that another node reserved lies behind it. */
  readonly head: Position;
}

export interface NodeClaim {
  /**
   * Ends the epoch of every node before: from now on the log takes nothing of theirs, not even what is on its way. Once,
   * when the tables are there. Throws Failure `store-unavailable` when the claim is lost, or the log locked.
   */
  beginEpoch(): Promise<Epoch>;
  release(): Promise<void>;
}

/**
 * Makes this process the only node on its database: quota is admitted in one memory, and two would each admit the
 * whole of it. Held by a connection, so it ends with the process, however that ends; a lost connection is made anew.
 * Throws Failure `store-unavailable` when another node holds the claim.
 */
export async function claimOnlyNode({ connection, log, waitMs, onLost }: OnlyNodeOptions): Promise<NodeClaim> {
  let client: pg.Client | null = null;
  let own: Epoch | null = null;
  let released = false;

  /** Why this node may not have the database; null: it has it. */
  const claim = async (): Promise<string | null> => {
    const candidate = newClient(connection, shortStatements);
    candidate.on('error', () => {});
    try {
      await candidate.connect();
      const refusal = await refusalOf(candidate, own);
      if (refusal !== null || released) {
        await candidate.end();
        return refusal;
      }
    } catch (error) {
      void candidate.end().catch(() => null);
      throw error;
    }
    client = candidate;
    candidate.once('end', () => {
      client = null;
      void reclaim();
    });
    return null;
  };

  const reclaim = async (): Promise<void> => {
    while (!released) {
      try {
        const refusal = await claim();
        if (refusal !== null) onLost(refusal);
        return;
      } catch (error) {
        log.warn({ reason: String(error) }, 'the claim to be the only node cannot be renewed yet');
        await pause(retryMs);
      }
    }
  };

  const deadline = performance.now() + waitMs;
  for (let logged = false; (await claim()) !== null; logged = true) {
    if (performance.now() >= deadline) throw new Failure('store-unavailable', { reason: secondNode });
    if (!logged) log.info({ waitMs }, 'another node serves this database; waiting for it to end');
    await pause(Math.min(retryMs, waitMs));
  }
  return {
    async beginEpoch() {
      // On the connection that holds the claim: where another node has it by now, this one cannot end that one's epoch.
      if (client === null) throw new Failure('store-unavailable', { reason: 'The connection to Postgres was lost.' });
      try {
        const { rows } = await client.query<Epoch>('SELECT epoch, head FROM begin_epoch()');
        const [begun] = rows;
        if (begun === undefined) throw new Error('log_epoch has lost its row');
        own = begun;
        return begun;
      } catch (error) {
        if (!isTransient(error)) throw error;
        throw new Failure('store-unavailable', { reason: `The event log cannot be taken over: ${String(error)}` });
      }
    },
    async release() {
      released = true;
      await client?.end();
    },
  };
}

async function refusalOf(candidate: pg.Client, own: Epoch | null): Promise<string | null> {
  const { rows } = await candidate.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [nodeLock]);
  if (rows[0]?.held !== true) return secondNode;
  if (own === null) return null;
  const epochs = await candidate.query<Pick<Epoch, 'epoch'>>('SELECT epoch FROM log_epoch');
  return epochs.rows[0]?.epoch === own.epoch ? null : cameBetween;
}

/** Whether a node has this database now. */
export async function isDatabaseServed(pool: Pick<pg.Pool, 'query'>): Promise<boolean> {
  const { rows } = await pool.query<{ held: boolean }>(
    `SELECT EXISTS (
       SELECT FROM pg_locks
       WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND (classid::bigint << 32) + objid::bigint = $1 AND objsubid = 1
     ) AS held`,
    [nodeLock],
  );
  return rows[0]?.held === true;
}
