import { createHash, randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { Clock, Sessions } from '../application/ports.js';
import { Position } from '../domain/events.js';
import { UserId } from '../domain/ids.js';
import { statements } from './statements.js';

const lifetimeMs = 30 * 24 * 60 * 60 * 1000;

/** The token is 32 random bytes: no one finds it by trying, so a plain hash of it is safe to store. */
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Sessions in Postgres, shared by all nodes. A session ends 30 days after it was opened. */
export const postgresSessions = (pool: Pool, clock: Clock): Sessions => {
  const query = statements(pool);

  return {
    async open({ user, since }) {
      const token = randomBytes(32).toString('base64url');
      const now = clock.now();
      // Every sign-in clears away what has expired, so the table stays as small as the number of sessions.
      await query(
        `WITH expired AS (DELETE FROM sessions WHERE expires_at <= $5)
         INSERT INTO sessions (token_hash, user_id, since, expires_at) VALUES ($1, $2, $3, $4)`,
        [hashOf(token), user, since, now + lifetimeMs, now],
      );
      return token;
    },

    async find(token) {
      const { rows } = await query<{ user_id: number; since: number; ended: boolean }>(
        'SELECT user_id, since, ended FROM sessions WHERE token_hash = $1 AND expires_at > $2',
        [hashOf(token), clock.now()],
      );
      const [row] = rows;
      return row === undefined ? null : { user: UserId(row.user_id), since: Position(row.since), ended: row.ended };
    },

    async close(token) {
      await query('DELETE FROM sessions WHERE token_hash = $1', [hashOf(token)]);
    },

    async endOlder(user, position) {
      await query('UPDATE sessions SET ended = true WHERE user_id = $1 AND since < $2', [user, position]);
    },

    async closeOlder(user, position) {
      await query('DELETE FROM sessions WHERE user_id = $1 AND since < $2', [user, position]);
    },
  };
};
