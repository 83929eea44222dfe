import type { Pool } from 'pg';
import type {
  ChangedCharge,
  SettledCalls,
  SettledPage,
  SettledPart,
} from '../../application/ports/settled-call-ports.js';
import { Position, type StreamName } from '../../domain/events/events.js';
import { ArchivedLines } from '../archives/archived-lines.js';
import { storedIn } from '../archives/stored-line.js';
import { statements } from '../database/statements.js';

/** Of one page, which holds one event more than this at most. */
const pageBytes = 4 * 1024 * 1024;

/** What is not asked for is left in the database: it is more than half of a log, and each row of an answer costs. */
const page = `
  SELECT max(position) AS last, EXISTS (SELECT FROM log_archives WHERE last_position > $1) AS archived,
    string_agg(concat('[', version, ',', at, ',', data, ']'), E'\\x1e')
      FILTER (WHERE type = 'CallSettled' AND at >= $5 AND at < $6) AS settled,
    json_agg(json_build_object('stream', stream, 'position', position) ORDER BY position)
      FILTER (WHERE type IN ('CallRefunded', 'CallCorrected')) AS changed
  FROM (
    SELECT *, octet_length(data::text) AS size,
      sum(octet_length(data::text)) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS filled
    FROM events WHERE position > $1 AND position <= $2 ORDER BY position LIMIT $3
  ) sized
  WHERE filled - size < $4`;

interface PageRow {
  readonly last: Position | null;
  readonly archived: boolean;
  readonly settled: string | null;
  readonly changed: readonly ChangedCharge[] | null;
}

export function postgresSettledCalls(pool: Pool): SettledCalls {
  const query = statements(pool);
  const archived = new ArchivedLines(pool);
  return {
    async page(asked) {
      const { after, upTo, limit, from, to } = asked;
      const { rows } = await query<PageRow>({ text: page, values: [after, upTo, limit, pageBytes, from, to] });
      if (rows[0]?.archived === true) {
        const lines = await archived.after(after, limit);
        // It may have been read back in the meantime: then it is asked again.
        return lines === null ? this.page(asked) : pageOf(lines, asked);
      }
      const { last = null, settled = null, changed = null } = rows[0] ?? {};
      // No JSON holds the separator, whatever somebody has done to a payload.
      return { last, settled: settled?.split('\x1e') ?? [], changed: changed ?? [] };
    },
  };
}

/** The same of lines that come from an archive. A call that was settled and refunded within them counts for nothing. */
function pageOf(lines: readonly string[], { upTo, from, to }: SettledPart): SettledPage {
  const events = lines.map(storedIn).filter(({ position }) => position <= Number(upTo));
  const streamsOf = (wanted: string) => events.flatMap(({ type, stream }) => (type === wanted ? [stream] : []));
  const back = new Set(streamsOf('CallRefunded'));
  const here = new Set(streamsOf('CallSettled'));
  const settled = events.filter(
    ({ type, stream, at }) => type === 'CallSettled' && !back.has(stream) && at >= from && at < to,
  );
  const changed = events.filter(
    ({ type, stream }) =>
      (type === 'CallRefunded' && !here.has(stream)) || (type === 'CallCorrected' && !back.has(stream)),
  );
  const last = events.at(-1);
  return {
    last: last === undefined ? null : Position(last.position),
    settled: settled.map(({ version, at, data }) => `[${version},${at},${data}]`),
    // What has left the log with its refund cannot be read by its name.
    changed: changed.map(({ stream, position }) => ({ stream: stream as StreamName, position })),
  };
}
