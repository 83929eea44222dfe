import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { Failure } from '../domain/failure.js';
import type { Log } from './log.js';
import { newClient, type PostgresConnection } from './postgres.js';
import { shortStatements } from './session-limits.js';

/** Any number nobody else uses: the advisory lock that the one node of a database holds. */
const nodeLock = 7_411_202_611;
const retryMs = 500;

const secondNode =
  'Another Tallygate node serves this database. Stop one of the two: several nodes need a shared quota gate, which this version does not have.';

export interface OnlyNodeOptions {
  readonly connection: PostgresConnection;
  readonly log: Log;
  /** How long a predecessor that is about to end is waited for. */
  readonly waitMs: number;
  /** Another node took over while the database was out of reach: this one must not admit anything any more. */
  readonly onLost: (reason: string) => void;
}

/**
 * Makes this process the only node on its database: quota is admitted in one memory, and two would each admit the
 * whole of it. Held by a connection, so it ends with the process, however that ends; a lost connection is made anew.
 * Resolves with a function that gives the claim up. Throws Failure `store-unavailable` when another node holds it.
 */
export async function claimOnlyNode({
  connection,
  log,
  waitMs,
  onLost,
}: OnlyNodeOptions): Promise<() => Promise<void>> {
  let client: pg.Client | null = null;
  let released = false;

  /** false: somebody else holds it. */
  const claim = async (): Promise<boolean> => {
    const candidate = newClient(connection, shortStatements);
    candidate.on('error', () => {});
    await candidate.connect();
    const { rows } = await candidate.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [nodeLock]);
    if (rows[0]?.held !== true) {
      await candidate.end();
      return false;
    }
    client = candidate;
    candidate.once('end', () => void reclaim());
    return true;
  };

  const reclaim = async (): Promise<void> => {
    while (!released) {
      try {
        if (!(await claim())) onLost(secondNode);
        return;
      } catch (error) {
        log.warn({ reason: String(error) }, 'the claim to be the only node cannot be renewed yet');
        await pause(retryMs);
      }
    }
  };

  const deadline = performance.now() + waitMs;
  for (let told = false; !(await claim()); told = true) {
    if (performance.now() >= deadline) throw new Failure('store-unavailable', { reason: secondNode });
    if (!told) log.info({ waitMs }, 'another node serves this database; waiting for it to end');
    await pause(Math.min(retryMs, waitMs));
  }
  return async () => {
    released = true;
    await client?.end();
  };
}
