import type { Pool } from 'pg';
import type { AuditCheckpoint, AuditCheckpoints } from '../../application/ports/seal-ports.js';
import { statements } from '../database/statements.js';

interface Step {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
}

/** One reading by index for each event asked about. */
export const postgresOutOfStep = (pool: Pool) => {
  const query = statements(pool);
  return async <Of extends Step>(steps: readonly Of[]): Promise<readonly { step: Of; twice: boolean }[]> => {
    const { rows } = await query<{ number: number; twice: boolean }>({
      name: 'out_of_step',
      text: `SELECT a.number::integer AS number, ahead.twice
        FROM unnest($1::text[], $2::integer[], $3::bigint[]) WITH ORDINALITY AS a (stream, revision, position, number)
        CROSS JOIN LATERAL (
          SELECT count(*) FILTER (WHERE e.revision = a.revision) > 0 AS twice,
            count(*) FILTER (WHERE e.revision < a.revision) > 0 AS follows
          FROM events e
          WHERE (e.stream LIKE 'call-%') = (a.stream LIKE 'call-%') AND e.stream = a.stream
            AND e.revision BETWEEN a.revision - 1 AND a.revision AND e.position < a.position
        ) ahead
        WHERE ahead.twice OR a.revision > 0 AND NOT ahead.follows
          -- Of what is in archives it cannot be told.
          AND NOT EXISTS (SELECT FROM log_archives WHERE last_position >= a.position)
        ORDER BY 1`,
      values: [
        steps.map(({ stream }) => stream),
        steps.map(({ revision }) => revision),
        steps.map(({ position }) => position),
      ],
    });
    return rows.flatMap(({ number, twice }) => {
      const step = steps[number - 1];
      return step === undefined ? [] : [{ step, twice }];
    });
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
