import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { CallProgressNotes } from '../application/ports/storage-ports.js';
import type { CallProgress, LastSeen } from '../domain/call/call-progress.js';
import { Position } from '../domain/events/events.js';
import type { CallId } from '../domain/kernel/ids.js';
import { statements } from './database/statements.js';

/* Notes on calls under way, in two tables beside the log. */

interface NodeRow {
  began_after: number;
  noted_to: number;
}

/** One instance per process: it is a node of its own. */
export function postgresCallProgress(pool: Pool): CallProgressNotes {
  const nodeId = randomUUID();
  const query = statements(pool);

  return {
    async begin(after) {
      await query('INSERT INTO call_progress_node (node_id, began_after, noted_to) VALUES ($1, $2, $2)', [
        nodeId,
        after,
      ]);
    },

    async note(notedTo, progressed, ended) {
      // One statement, hence one transaction: whoever reads finds all of it or nothing.
      await query({
        name: 'note_call_progress',
        text: `
          WITH ended AS (DELETE FROM call_progress WHERE call_id = any($2::text[])),
          noted AS (UPDATE call_progress_node SET noted_to = $3 WHERE node_id = $1)
          INSERT INTO call_progress (call_id, node_id, progress)
          SELECT call_id, $1, progress FROM json_to_recordset($4) AS told (call_id text, progress json)
          ON CONFLICT (call_id) DO UPDATE SET progress = excluded.progress`,
        values: [
          nodeId,
          ended,
          notedTo,
          JSON.stringify(progressed.map(({ callId, progress }) => ({ call_id: callId, progress }))),
        ],
      });
    },

    async lastSeen(calls) {
      const ids = calls.map(({ callId }) => callId);
      const [noted, nodes] = await Promise.all([
        query<{ call_id: CallId; progress: CallProgress }>(
          'SELECT call_id, progress FROM call_progress WHERE call_id = any($1::text[])',
          [ids],
        ),
        query<NodeRow>('SELECT began_after, noted_to FROM call_progress_node ORDER BY began_after DESC'),
      ]);
      const progressOf = new Map(noted.rows.map(({ call_id, progress }) => [call_id, progress]));
      return new Map(
        calls.map(({ callId, position }): [CallId, LastSeen] => {
          const progress = progressOf.get(callId);
          if (progress !== undefined) return [callId, { kind: 'sent', progress }];
          const node = nodes.rows.find(({ began_after }) => Position(began_after) < position);
          const wasNoted = node !== undefined && position <= Position(node.noted_to);
          return [callId, { kind: wasNoted ? 'not-sent' : 'unknown' }];
        }),
      );
    },

    async forget(calls) {
      await query('DELETE FROM call_progress WHERE call_id = any($1::text[])', [calls]);
    },

    async forgetOthers() {
      await query('DELETE FROM call_progress WHERE node_id <> $1', [nodeId]);
      await query('DELETE FROM call_progress_node WHERE node_id <> $1', [nodeId]);
    },
  };
}
