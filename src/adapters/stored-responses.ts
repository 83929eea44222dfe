import type { Pool } from 'pg';
import type { StoredResponse, StoredResponseRows } from '../application/ports/stored-response-ports.js';
import { isUnavailable } from '../domain/kernel/failure.js';
import type { UserId } from '../domain/kernel/ids.js';
import { statements } from './database/statements.js';
import type { UserKeys } from './vault/personal-data.js';
import { openBytes, sealBytes } from './vault/sealing.js';

/* In a table beside the log: what people say to models is in no event. A deleted user's rows can be opened no more. */

/** What a user's key is asked for here. */
const purpose = 'stored responses';

const owner = (user: UserId, id: string): string => `stored response ${id} of user ${user}`;

const insertSql = `INSERT INTO stored_response (user_id, response_id, stored_at, bytes, sealed)
  SELECT user_id, response_id, stored_at, octet_length(sealed), sealed
  FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bytea[]) AS new (user_id, response_id, stored_at, sealed)
  WHERE NOT EXISTS (SELECT 1 FROM stored_response AS mark
    WHERE mark.user_id = new.user_id AND mark.response_id = '' AND mark.stored_at >= new.stored_at)
  ON CONFLICT DO NOTHING`;

/* A row without content is a mark: no response is added in its place, or, with no id, none that was put until its time. */

/** More of a user are not needed. */
const maxMarks = 100;

const markSql = `INSERT INTO stored_response (user_id, response_id, stored_at, bytes, sealed)
  SELECT $1::bigint, $2::text, $3::bigint, 0, ''::bytea WHERE $2::text = '' OR (SELECT count(*) FROM stored_response WHERE user_id = $1 AND bytes = 0) < $4
  ON CONFLICT (user_id, response_id) DO UPDATE SET stored_at = EXCLUDED.stored_at, bytes = 0, sealed = ''
  RETURNING (SELECT bytes FROM stored_response AS before WHERE user_id = $1 AND response_id = $2) > 0 AS removed`;

const beyondShareSql = `DELETE FROM stored_response USING (
  SELECT response_id, row_number() OVER newest AS nth, sum(bytes) OVER newest AS total
  FROM stored_response WHERE user_id = $1 AND bytes > 0 WINDOW newest AS (ORDER BY response_id DESC)) AS counted
  WHERE user_id = $1 AND stored_response.response_id = counted.response_id AND (nth > $2 OR total > $3)`;

const beyondTotalSql = `DELETE FROM stored_response USING (
  SELECT user_id, response_id, sum(bytes) OVER (ORDER BY stored_at DESC, response_id DESC) AS total
  FROM stored_response) AS counted
  WHERE stored_response.user_id = counted.user_id AND stored_response.response_id = counted.response_id
  AND total > $1`;

interface RowPorts {
  readonly pool: Pool;
  readonly keys: UserKeys;
  readonly warn: (facts: Record<string, unknown>, message: string) => void;
}

/** null: its user's key is destroyed, or cannot be opened. Throws where the database cannot be asked. */
async function sealedResponse(
  { keys, warn }: Pick<RowPorts, 'keys' | 'warn'>,
  { userId, id, content }: StoredResponse,
): Promise<Buffer | null> {
  try {
    const key = await keys.makeKey(userId, purpose);
    return key && sealBytes(key, owner(userId, id), content);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    warn({ userId, responseId: id, reason: String(error) }, 'a response cannot be sealed and is not stored');
    return null;
  }
}

export function postgresStoredResponses({ pool, keys, warn }: RowPorts): StoredResponseRows {
  const query = statements(pool);
  return {
    async add(responses, share) {
      const users: number[] = [];
      const ids: string[] = [];
      const times: number[] = [];
      const sealed: Buffer[] = [];
      for (const response of responses) {
        const bytes = await sealedResponse({ keys, warn }, response);
        if (bytes === null) continue;
        users.push(response.userId);
        ids.push(response.id);
        times.push(response.at);
        sealed.push(bytes);
      }
      await query(insertSql, [users, ids, times, sealed]);
      for (const user of new Set(users)) await query(beyondShareSql, [user, share.responses, share.bytes]);
    },

    async get(user, id, since) {
      const { rows } = await query<{ sealed: Buffer }>(
        'SELECT sealed FROM stored_response WHERE user_id = $1 AND response_id = $2 AND stored_at >= $3 AND bytes > 0',
        [user, id, since],
      );
      const sealed = rows[0]?.sealed;
      if (sealed === undefined) return null;
      try {
        const key = await keys.key(user, purpose);
        return key === null ? 'unreadable' : openBytes(key, owner(user, id), sealed);
      } catch (error) {
        if (isUnavailable(error)) throw error;
        return 'unreadable';
      }
    },

    async remove(user, id) {
      const { rowCount } = await query(
        'DELETE FROM stored_response WHERE user_id = $1 AND response_id = $2 AND bytes > 0',
        [user, id],
      );
      return (rowCount ?? 0) > 0;
    },

    async keepOut(user, id, now) {
      const { rows } = await query<{ removed: boolean | null }>(markSql, [user, id, now, maxMarks]);
      return rows[0]?.removed === true;
    },

    async removeAll(user, now) {
      await query(markSql, [user, '', now, maxMarks]);
      const { rowCount } = await query('DELETE FROM stored_response WHERE user_id = $1 AND bytes > 0', [user]);
      return rowCount ?? 0;
    },

    async count(user, since) {
      const { rows } = await query<{ count: number }>(
        'SELECT count(*)::integer AS count FROM stored_response WHERE user_id = $1 AND stored_at >= $2 AND bytes > 0',
        [user, since],
      );
      return rows[0]?.count ?? 0;
    },

    async purge(before, maxBytes, unkept) {
      await query('DELETE FROM stored_response WHERE bytes = 0 AND stored_at < $1', [unkept]);
      const { rowCount: old } = await query('DELETE FROM stored_response WHERE stored_at < $1 AND bytes > 0', [before]);
      const { rowCount: beyond } = await query(beyondTotalSql, [maxBytes]);
      const { rows } = await query<{ bytes: number }>(
        'SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM stored_response',
      );
      return { removed: (old ?? 0) + (beyond ?? 0), bytes: Number(rows[0]?.bytes ?? 0) };
    },
  };
}
