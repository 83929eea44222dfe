import type { Pool } from 'pg';
import type { GrowingLines, LineByPosition } from '../../application/ports/seal-ports.js';
import { beginning, type Position } from '../../domain/events/events.js';
import { ArchivedLines } from '../archives/archived-lines.js';
import { statements } from '../database/statements.js';

/** Of one page, which holds one event more than this at most. */
const pageBytes = 4 * 1024 * 1024;

/** Written by Postgres: names need no more escaping than JSON has, and payloads are stored as the text they are. */
const line = `concat('[', position, ',', to_json(stream), ',', revision, ',', to_json(type), ',', version, ',"', event_id,
  '",', at, ',', data, ']')`;

/** As read_events: at least one event, and none after the one that fills the page. As one value, not a row for each. */
const page = `
  SELECT string_agg(${line}, E'\\x1e') AS page,
    EXISTS (SELECT FROM log_archives WHERE last_position > $1) AS archived
  FROM (
    SELECT *, octet_length(data::text) AS size,
      sum(octet_length(data::text)) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS filled
    FROM events WHERE position > $1 ORDER BY position LIMIT $2
  ) sized
  WHERE filled - size < $3`;

/** The events of the log in Postgres as lines. */
export function postgresEventLines(pool: Pool): GrowingLines {
  const query = statements(pool);
  const archived = new ArchivedLines(pool);
  return {
    async after(after, limit) {
      const { rows } = await query<{ page: string | null; archived: boolean }>({
        text: page,
        values: [after, limit, pageBytes],
      });
      // It may have been read back in the meantime: then it is asked again.
      if (rows[0]?.archived === true) return (await archived.after(after, limit)) ?? this.after(after, limit);
      // No JSON holds the separator, whatever somebody has done to a payload.
      return rows[0]?.page?.split('\x1e') ?? [];
    },
    async head() {
      const { rows } = await query<{ head: Position | null }>('SELECT max(position) AS head FROM events');
      return rows[0]?.head ?? beginning;
    },
  };
}

/** The same lines, found by index. */
export function postgresLineByPosition(pool: Pool): LineByPosition {
  const query = statements(pool);
  return {
    async at(position) {
      const { rows } = await query<{ line: string }>({
        text: `SELECT ${line} AS line FROM events WHERE position = $1`,
        values: [position],
      });
      return rows[0]?.line ?? null;
    },
  };
}
