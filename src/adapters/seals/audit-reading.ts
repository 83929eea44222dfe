import type { Pool } from 'pg';
import type { AuditCheckpoint, AuditCheckpoints } from '../../application/ports/seal-ports.js';
import { statements } from '../database/statements.js';

interface Step {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
}

/** Of these events, those whose stream has no event of the revision before, ahead of them in the log. */
export const postgresWithoutPredecessor = (pool: Pool) => {
  const query = statements(pool);
  return async <Of extends Step>(steps: readonly Of[]): Promise<readonly Of[]> => {
    const { rows } = await query<{ number: number }>({
      name: 'without_predecessor',
      text: `SELECT a.number::integer AS number
        FROM unnest($1::text[], $2::integer[], $3::bigint[]) WITH ORDINALITY AS a (stream, revision, position, number)
        LEFT JOIN LATERAL (
          SELECT true AS there FROM events e
          WHERE (e.stream LIKE 'call-%') = (a.stream LIKE 'call-%') AND e.stream = a.stream
            AND e.revision = a.revision - 1 AND e.position < a.position
          LIMIT 1
        ) before ON true
        WHERE before.there IS NULL
        ORDER BY 1`,
      values: [
        steps.map(({ stream }) => stream),
        steps.map(({ revision }) => revision),
        steps.map(({ position }) => position),
      ],
    });
    return rows.flatMap(({ number }) => steps[number - 1] ?? []);
  };
};

/** In a table of one row. */
export function postgresAuditCheckpoints(pool: Pool): AuditCheckpoints {
  const query = statements(pool);
  return {
    async newest() {
      const { rows } = await query<AuditCheckpoint>(
        'SELECT number, digest, position, facts, mac FROM audit_checkpoint',
      );
      return rows[0] ?? null;
    },
    async keep({ number, digest, position, facts, mac }) {
      await query(
        `INSERT INTO audit_checkpoint (number, digest, position, facts, mac) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (one) DO UPDATE SET number = excluded.number, digest = excluded.digest,
           position = excluded.position, facts = excluded.facts, mac = excluded.mac`,
        [number, digest, position, facts, mac],
      );
    },
  };
}
