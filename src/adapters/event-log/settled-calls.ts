import type { Pool } from 'pg';
import type { SettledCalls } from '../../application/ports/settled-call-ports.js';
import type { Position, StreamName } from '../../domain/events/events.js';
import { statements } from '../database/statements.js';

/** Of one page, which holds one event more than this at most. */
const pageBytes = 4 * 1024 * 1024;

/** What is not asked for is left in the database: it is more than half of a log, and each row of an answer costs. */
const page = `
  SELECT max(position) AS last,
    string_agg(concat('[', version, ',', at, ',', data, ']'), E'\\x1e')
      FILTER (WHERE type = 'CallSettled' AND at >= $5 AND at < $6) AS settled,
    json_agg(stream) FILTER (WHERE type = 'CallRefunded') AS refunded
  FROM (
    SELECT *, octet_length(data::text) AS size,
      sum(octet_length(data::text)) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS filled
    FROM events WHERE position > $1 AND position <= $2 ORDER BY position LIMIT $3
  ) sized
  WHERE filled - size < $4`;

interface PageRow {
  readonly last: Position | null;
  readonly settled: string | null;
  readonly refunded: readonly StreamName[] | null;
}

export function postgresSettledCalls(pool: Pool): SettledCalls {
  const query = statements(pool);
  return {
    async page({ after, upTo, limit, from, to }) {
      const { rows } = await query<PageRow>({ text: page, values: [after, upTo, limit, pageBytes, from, to] });
      const { last = null, settled = null, refunded = null } = rows[0] ?? {};
      // No JSON holds the separator, whatever somebody has done to a payload.
      return { last, settled: settled?.split('\x1e') ?? [], refunded: refunded ?? [] };
    },
  };
}
