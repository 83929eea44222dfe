import type { Pool, PoolClient } from 'pg';
import type { DetachedLog, LogArchive } from '../../application/ports/archive-ports.js';
import { statements } from '../database/statements.js';
import { storedIn } from './stored-line.js';

/** Positions that are looked through in one step. */
const positionsAtOnce = 10_000;

const columns = 'period, first_after AS after, last_position AS last, until, events::integer AS events, file, digest';

/** A call whose task may fail yet keeps its events: its refund goes behind them. */
const hasTask = (call: string) =>
  `CASE json_typeof(${call}.data) WHEN 'array' THEN ${call}.data->>17 ELSE ${call}.data->>'task' END IS NOT NULL`;

/*
 * Of calls that lie within the stretch from their beginning to their outcome, all events; whatever else there is stays, as
 * it is still decided by. No call leaves in part, so what is left of a stream is all of it: one that reaches into another
 * stretch stays, and so does one that was refunded or corrected, as what is charged of it is said by several events. The
 * outcome of a call lies behind its reservation, so it is there when that one is looked at.
 */
const takeSome = `
  DELETE FROM events e
  WHERE e.position > $1 AND e.position <= $2 AND e.stream LIKE 'call-%'
    AND NOT EXISTS (
      SELECT FROM events other
      WHERE other.stream LIKE 'call-%' AND other.stream = e.stream
        AND (
          other.position > $3 OR other.position <= $4 OR other.at >= $5
          OR other.type IN ('CallRefunded', 'CallCorrected')
          OR other.type = 'CallSettled' AND ${hasTask('other')}
        )
    )
    AND (e.type <> 'CallReserved' OR EXISTS (
      SELECT FROM events outcome
      WHERE outcome.stream LIKE 'call-%' AND outcome.stream = e.stream
        AND outcome.type IN ('CallSettled', 'CallReleased')
    ))`;

/** Behind an order of a repair comes the event that says it has ended. */
const repairing = `
  SELECT EXISTS (
    SELECT FROM events e
    WHERE e.stream LIKE 'repair-%' AND e.type IN ('RepairOrdered', 'RepairUndoOrdered')
      AND NOT EXISTS (SELECT FROM events later WHERE later.stream = e.stream AND later.revision > e.revision)
  ) AS repairing`;

/** The table of events in Postgres, with what archives have of it. */
export function postgresDetachedLog(pool: Pool): DetachedLog {
  const query = statements(pool);
  return {
    async all() {
      return (await query<LogArchive>(`SELECT ${columns} FROM log_archives ORDER BY last_position`)).rows;
    },
    async detach({ period, after, last, until, events, file, digest }) {
      await query(
        `INSERT INTO log_archives (period, first_after, last_position, until, events, file, digest, cleared_to)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $2) ON CONFLICT (period) DO UPDATE SET file = excluded.file, cleared_to = excluded.cleared_to`,
        [period, after, last, until, events, file, digest],
      );
    },
    takeAway: (period) =>
      locked(pool, period, async (client, row) => {
        if (row === undefined || row.from >= row.last) return null;
        const to = Math.min(row.last, row.from + positionsAtOnce);
        const { rowCount } = await client.query(takeSome, [row.from, to, row.last, row.after, row.until]);
        await client.query('UPDATE log_archives SET cleared_to = $2 WHERE period = $1', [period, to]);
        return rowCount ?? 0;
      }),
    async putBack(lines) {
      const events = lines.map(storedIn);
      const column = <Name extends keyof (typeof events)[number]>(name: Name) => events.map((event) => event[name]);
      await query(
        `INSERT INTO events (position, stream, revision, type, version, event_id, at, data)
         SELECT position, stream, revision, type, version, id, at, data::json
         FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::smallint[], $6::uuid[], $7::bigint[], $8::text[])
           AS line (position, stream, revision, type, version, id, at, data)
         ON CONFLICT (position) DO NOTHING`,
        [
          ...[column('position'), column('stream'), column('revision'), column('type'), column('version')],
          ...[column('id'), column('at'), column('data')],
        ],
      );
    },
    async isRepairing() {
      const { rows } = await query<{ repairing: boolean }>(repairing);
      return rows[0]?.repairing === true;
    },
    attach: (period, events) =>
      locked(pool, period, async (client, row) => {
        if (row === undefined) return events;
        const { rows } = await client.query<{ count: number }>(
          'SELECT count(*)::integer AS count FROM events WHERE position > $1 AND position <= $2',
          [row.after, row.last],
        );
        const there = rows[0]?.count ?? 0;
        if (there === events) await client.query('DELETE FROM log_archives WHERE period = $1', [period]);
        return there;
      }),
  };
}

interface Stretch {
  readonly after: number;
  /** Calls have been taken away up to there. */
  readonly from: number;
  readonly last: number;
  readonly until: number;
}

/** In one transaction, in which nobody else takes calls of the period away or attaches it. undefined: it is in the log. */
async function locked<Result>(
  pool: Pool,
  period: string,
  work: (client: PoolClient, row: Stretch | undefined) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<Stretch>(
      `SELECT first_after AS after, cleared_to AS from, last_position AS last, until
       FROM log_archives WHERE period = $1 FOR UPDATE`,
      [period],
    );
    const result = await work(client, rows[0]);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}
