import type { Pool } from 'pg';
import type { ReactionCheckpoints } from '../application/ports/storage-ports.js';
import { beginning, Position } from '../domain/events/events.js';
import { statements } from './database/statements.js';

/** In a table beside the log, a row for each reaction. */
export function postgresReactionCheckpoints(pool: Pool): ReactionCheckpoints {
  const query = statements(pool);

  return {
    async of(reaction) {
      const { rows } = await query<{ position: number }>('SELECT position FROM reaction_places WHERE reaction = $1', [
        reaction,
      ]);
      return rows[0] === undefined ? beginning : Position(rows[0].position);
    },

    async keep(reaction, position) {
      await query(
        `INSERT INTO reaction_places AS place (reaction, position) VALUES ($1, $2)
         ON CONFLICT (reaction) DO UPDATE SET position = excluded.position WHERE place.position < excluded.position`,
        [reaction, position],
      );
    },
  };
}
