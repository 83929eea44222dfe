import { createHash, randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { Client, Clock, Sessions } from '../../application/ports/storage-ports.js';
import { Position } from '../../domain/events/events.js';
import { UserId } from '../../domain/kernel/ids.js';
import { Instant } from '../../domain/kernel/instant.js';
import type { Language } from '../../domain/kernel/language.js';
import { statements } from '../database/statements.js';
import type { MasterKey } from '../vault/master-key.js';
import { openBytes, sealBytes } from '../vault/sealing.js';

const lifetimeMs = 30 * 24 * 60 * 60 * 1000;
/** A session that is used all the time is written to so often. */
const seenEveryMs = 5 * 60 * 1000;
/** Characters of what a browser calls itself that are kept. */
const maxUserAgentLength = 256;

/** Sessions of one user that are listed, the newest. */
const maxListed = 100;

/** The token is 32 random bytes: no one finds it by trying, so a plain hash of it is safe to store. */
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

const idBytes = 12;
const idOf = (hash: Buffer): string => hash.toString('hex', 0, idBytes);
/** The same in SQL. */
const id = `encode(substring(token_hash FROM 1 FOR ${idBytes}), 'hex')`;

/**
 * Sessions in Postgres, shared by all nodes. A session ends 30 days after it was opened. Where it was opened from is
 * encrypted, bound to the session.
 */
export const postgresSessions = (options: {
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly clock: Clock;
}): Sessions => {
  const { pool, masterKey, clock } = options;
  const query = statements(pool);
  const sealingKey = masterKey.derive('sessions');
  const ownerOf = (session: string): string => `session ${session}`;

  const sealed = (session: string, { network, userAgent }: Client): Buffer => {
    const kept = JSON.stringify({ place: network, userAgent: userAgent.slice(0, maxUserAgentLength) });
    return sealBytes(sealingKey, ownerOf(session), Buffer.from(kept, 'utf8'));
  };

  const opened = (session: string, client: Buffer | null): Client => {
    if (client === null) return { network: '', userAgent: '' };
    const text = openBytes(sealingKey, ownerOf(session), client).toString('utf8');
    const { place, userAgent } = JSON.parse(text) as { readonly place: string; readonly userAgent: string };
    return { network: place, userAgent };
  };

  return {
    async open({ user, since }, client) {
      const token = randomBytes(32).toString('base64url');
      const hash = hashOf(token);
      const now = clock.now();
      // Every sign-in clears away what has expired, so the table stays as small as the number of sessions.
      await query(
        `WITH expired AS (DELETE FROM sessions WHERE expires_at <= $5),
         told AS (
           INSERT INTO user_languages (user_id, language) SELECT $2::bigint, $7::text WHERE $7::text IS NOT NULL
           ON CONFLICT (user_id) DO UPDATE SET language = excluded.language
         )
         INSERT INTO sessions (token_hash, user_id, since, expires_at, seen_at, client) VALUES ($1, $2, $3, $4, $5, $6)`,
        [hash, user, since, now + lifetimeMs, now, sealed(idOf(hash), client), client.language ?? null],
      );
      return token;
    },

    async find(token) {
      const now = clock.now();
      const hash = hashOf(token);
      const { rows } = await query<{ user_id: number; since: number; ended: boolean; seen_at: number | null }>(
        'SELECT user_id, since, ended, seen_at FROM sessions WHERE token_hash = $1 AND expires_at > $2',
        [hash, now],
      );
      const [row] = rows;
      if (row === undefined) return null;
      if ((row.seen_at ?? 0) <= now - seenEveryMs)
        await query('UPDATE sessions SET seen_at = $2 WHERE token_hash = $1', [hash, now]);
      return { user: UserId(row.user_id), since: Position(row.since), ended: row.ended };
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

    idOf: (token) => idOf(hashOf(token)),

    async openOf(user, position) {
      const { rows } = await query<{ id: string; expires_at: number; seen_at: number | null; client: Buffer | null }>(
        `SELECT ${id} AS id, expires_at, seen_at, client FROM sessions
         WHERE user_id = $1 AND since >= $2 AND NOT ended AND expires_at > $3
         ORDER BY expires_at DESC, token_hash LIMIT $4`,
        [user, position, clock.now(), maxListed],
      );
      return rows.map((row) => {
        const openedAt = row.expires_at - lifetimeMs;
        return {
          id: row.id,
          openedAt: Instant(openedAt),
          seenAt: Instant(row.seen_at ?? openedAt),
          client: opened(row.id, row.client),
        };
      });
    },

    async closeOne(user, session) {
      const { rowCount } = await query(`DELETE FROM sessions WHERE user_id = $1 AND ${id} = $2`, [user, session]);
      return (rowCount ?? 0) > 0;
    },

    async closeOthers(user, session) {
      const { rows } = await query<{ id: string }>(
        `DELETE FROM sessions WHERE user_id = $1 AND ${id} <> $2 RETURNING ${id} AS id`,
        [user, session],
      );
      return rows.map((row) => row.id);
    },

    async languageOf(user) {
      const { rows } = await query<{ language: Language }>('SELECT language FROM user_languages WHERE user_id = $1', [
        user,
      ]);
      return rows[0]?.language ?? null;
    },
  };
};
