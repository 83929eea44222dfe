import type { Pool } from 'pg';
import type { NotificationQueue } from '../application/ports/outbound-ports.js';
import { Sealed, UserId } from '../domain/kernel/ids.js';
import { Instant } from '../domain/kernel/instant.js';
import { statements } from './database/statements.js';

/** How long it can be seen that something was given up. */
const givenUpForMs = 7 * 24 * 60 * 60 * 1000;
const maxWaiting = 10_000;

/** In a table beside the log. What has been sent stays, without its content, as long as it counts for the limit. */
export function postgresNotificationQueue(pool: Pool): NotificationQueue {
  const query = statements(pool);

  return {
    async add({ user, kind, cause, content, at }, { max, withinMs }) {
      await query(
        `WITH forgotten AS (
           DELETE FROM notifications
           WHERE outcome IS NOT NULL AND queued_at < CASE outcome WHEN 'given-up' THEN $8::bigint ELSE $7::bigint END
         )
         INSERT INTO notifications (user_id, kind, cause, content, queued_at, next_try_at)
         SELECT $1, $2, $3, $4, $5, $5
         WHERE (SELECT count(*) FROM notifications
                WHERE user_id = $1 AND kind = $2 AND ((queued_at > $7::bigint AND queued_at <= $5) OR outcome IS NULL)) < $6
           AND (SELECT count(*) FROM (SELECT FROM notifications WHERE outcome IS NULL LIMIT $9) AS waiting) < $9
         ON CONFLICT (cause) DO NOTHING`,
        [user, kind, cause, content, at, max, at - withinMs, at - givenUpForMs, maxWaiting],
      );
    },

    async take(now, max, leasedTo) {
      const { rows } = await query<{
        id: number;
        user_id: number;
        kind: string;
        content: string;
        queued_at: number;
        tries: number;
      }>(
        `UPDATE notifications AS taken SET tries = taken.tries + 1, next_try_at = $3
         FROM (SELECT id FROM notifications WHERE outcome IS NULL AND (next_try_at <= $1 OR queued_at > $1)
               ORDER BY next_try_at LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
         WHERE taken.id = due.id
         RETURNING taken.id, user_id, kind, content, queued_at, tries`,
        [now, max, leasedTo],
      );
      return rows.map(({ id, user_id, kind, content, queued_at, tries }) => ({
        id,
        user: UserId(user_id),
        kind,
        content: Sealed(content),
        at: Instant(queued_at),
        tries,
      }));
    },

    async later(id, at) {
      await query('UPDATE notifications SET next_try_at = $2 WHERE id = $1 AND outcome IS NULL', [id, at]);
    },

    async end(id, outcome) {
      await query(`UPDATE notifications SET outcome = $2, content = '' WHERE id = $1`, [id, outcome]);
    },

    async state(now) {
      const { rows } = await query<{ waiting: number; oldest: number | null; given_up: number }>(
        `SELECT count(*) FILTER (WHERE outcome IS NULL) AS waiting,
                min(queued_at) FILTER (WHERE outcome IS NULL) AS oldest,
                count(*) FILTER (WHERE outcome = 'given-up' AND queued_at > $1) AS given_up
         FROM notifications`,
        [now - givenUpForMs],
      );
      const { waiting, oldest, given_up } = rows[0] ?? { waiting: 0, oldest: null, given_up: 0 };
      return { waiting, oldestWaitingSince: oldest === null ? null : Instant(oldest), givenUp: given_up };
    },
  };
}
