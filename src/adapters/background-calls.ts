import type { Pool } from 'pg';
import type { BackgroundCall, BackgroundCallStore } from '../application/ports/background-call-ports.js';
import { statements } from './database/statements.js';

/** In a table beside the log: one row for each that has no outcome yet. */
export function postgresBackgroundCalls(pool: Pool): BackgroundCallStore {
  const query = statements(pool);
  return {
    async all() {
      const { rows } = await query<{ call: BackgroundCall }>('SELECT call FROM background_call ORDER BY call_id');
      return rows.map(({ call }) => call);
    },
    async add(call) {
      await query('INSERT INTO background_call (call_id, call) VALUES ($1, $2) ON CONFLICT (call_id) DO NOTHING', [
        call.callId,
        JSON.stringify(call),
      ]);
    },
    async update(call) {
      await query('UPDATE background_call SET call = $2 WHERE call_id = $1', [call.callId, JSON.stringify(call)]);
    },
    async remove(callId) {
      await query('DELETE FROM background_call WHERE call_id = $1', [callId]);
    },
  };
}
