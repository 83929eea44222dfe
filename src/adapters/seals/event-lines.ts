import type { Pool } from 'pg';
import type { EventLines } from '../../application/ports/seal-ports.js';
import { statements } from '../database/statements.js';

/** Of one page, which holds one event more than this at most. */
const pageBytes = 4 * 1024 * 1024;

/** Written by Postgres: names need no more escaping than JSON has, and payloads are stored as the text they are. */
const line = `'[' || position || ',' || to_json(stream) || ',' || revision || ',' || to_json(type) || ',' || version
  || ',"' || event_id || '",' || at || ',' || data || ']'`;

/** The events of the log in Postgres as lines. */
export function postgresEventLines(pool: Pool): EventLines {
  const query = statements(pool);
  return {
    async after(after, limit) {
      // One value instead of a row for each. No JSON holds the separator, whatever somebody has done to a payload.
      const { rows } = await query<{ page: string | null }>({
        name: 'event_lines',
        text: `SELECT string_agg(${line}, E'\\x1e' ORDER BY position) AS page FROM read_events($1, $2, $3)`,
        values: [after, limit, pageBytes],
      });
      return rows[0]?.page?.split('\x1e') ?? [];
    },
  };
}
