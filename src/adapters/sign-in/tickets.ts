import { createHmac } from 'node:crypto';
import type { Pool } from 'pg';
import type { Clock, Tickets } from '../../application/ports/storage-ports.js';
import { statements } from '../database/statements.js';
import type { MasterKey } from '../vault/master-key.js';
import { openBytes, sealBytes } from '../vault/sealing.js';

/**
 * Tickets in Postgres, shared by all nodes. Of name and code only keyed hashes are stored, so that comparing them shows
 * nothing by the time it takes; contents are encrypted, each bound to its ticket.
 */
export function postgresTickets(options: {
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly clock: Clock;
}): Tickets {
  const { pool, masterKey, clock } = options;
  const query = statements(pool);
  const sealingKey = masterKey.derive('tickets');
  const hashingKey = masterKey.derive('ticket hash');
  const hashOf = (...parts: readonly string[]): Buffer =>
    createHmac('sha256', hashingKey).update(JSON.stringify(parts), 'utf8').digest();
  const nameOf = (kind: string, name: string): Buffer => hashOf('name', kind, name);
  const codeOf = (kind: string, name: string, code: string): Buffer => hashOf('code', kind, name, code);
  const ownerOf = (name: Buffer): string => `ticket ${name.toString('base64url')}`;
  const opened = (name: Buffer, content: Buffer): string =>
    openBytes(sealingKey, ownerOf(name), content).toString('utf8');

  /** The content where the code is right; otherwise one try less. */
  const compared = async (kind: string, name: Buffer, code: Buffer): Promise<string | null> => {
    const { rows } = await query<{ matches: boolean; content: Buffer }>(
      `UPDATE tickets SET tries_left = tries_left - (code_hash <> $3)::integer
       WHERE kind = $1 AND name_hash = $2 AND expires_at > $4 AND tries_left > 0
       RETURNING code_hash = $3 AS matches, content`,
      [kind, name, code, clock.now()],
    );
    const [row] = rows;
    return row?.matches ? opened(name, row.content) : null;
  };

  const issued = async (
    replaced: 'any' | 'expired',
    ...[kind, name, { code, content, lifetimeMs, tries }]: Parameters<Tickets['issue']>
  ): Promise<void> => {
    const now = clock.now();
    const hashed = nameOf(kind, name);
    // Each one clears away what has expired, so the table stays as small as what is under way.
    await query(
      `WITH expired AS (DELETE FROM tickets WHERE expires_at <= $7 AND NOT (kind = $1 AND name_hash = $2))
       INSERT INTO tickets (kind, name_hash, code_hash, content, tries_left, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (kind, name_hash) DO UPDATE SET code_hash = excluded.code_hash, content = excluded.content,
         tries_left = excluded.tries_left, expires_at = excluded.expires_at
       ${replaced === 'expired' ? 'WHERE tickets.expires_at <= $7' : ''}`,
      [
        kind,
        hashed,
        codeOf(kind, name, code),
        sealBytes(sealingKey, ownerOf(hashed), Buffer.from(content, 'utf8')),
        tries,
        now + lifetimeMs,
        now,
      ],
    );
  };

  return {
    issue: (...ticket) => issued('any', ...ticket),

    restore: (...ticket) => issued('expired', ...ticket),

    check: (kind, name, code) => compared(kind, nameOf(kind, name), codeOf(kind, name, code)),

    async redeem(kind, name, code) {
      const [hashed, given] = [nameOf(kind, name), codeOf(kind, name, code)];
      const { rows } = await query<{ content: Buffer }>(
        `DELETE FROM tickets
         WHERE kind = $1 AND name_hash = $2 AND code_hash = $3 AND expires_at > $4 AND tries_left > 0 RETURNING content`,
        [kind, hashed, given, clock.now()],
      );
      const [row] = rows;
      if (row !== undefined) return opened(hashed, row.content);
      await compared(kind, hashed, given);
      return null;
    },

    async spend(kind, name, lifetimeMs) {
      const now = clock.now();
      // A ticket that nobody can redeem: that it is there is all it says.
      const { rowCount } = await query(
        `WITH expired AS (DELETE FROM tickets WHERE expires_at <= $4 AND NOT (kind = $1 AND name_hash = $2))
         INSERT INTO tickets (kind, name_hash, code_hash, content, tries_left, expires_at) VALUES ($1, $2, '', '', 0, $3)
         ON CONFLICT (kind, name_hash) DO UPDATE SET expires_at = excluded.expires_at WHERE tickets.expires_at <= $4`,
        [kind, nameOf(kind, name), now + lifetimeMs, now],
      );
      return rowCount === 1;
    },

    async drop(kind, name) {
      await query('DELETE FROM tickets WHERE kind = $1 AND name_hash = $2', [kind, nameOf(kind, name)]);
    },
  };
}
