import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { currentPayloads } from '../../src/domain/events/upcast.js';
import { schemaOf } from '../../src/projections/engine/projection.js';
import { usageLog } from '../../src/projections/models/usage-log/usage-log.js';
import { createTestDatabase } from '../support/postgres/postgres.js';
import { reserved, settled } from './history.js';

/* Events as releases without a limit have left them, met by a process that has less memory than they take together. */

const calls = 34;
const effort = 3_000_000;
/** Half of it is the program itself. */
const heapMiB = 128;

test('events of 3 MB, 34 in number, are folded, rebuilt and followed live in a heap with space for half of them', async () => {
  const { connection, pool, drop } = await createTestDatabase();
  // Compressing what nobody reads again would be most of the time.
  await pool.query('ALTER TABLE events ALTER COLUMN data SET STORAGE EXTERNAL');
  /** All in one commit, so that whoever follows the log finds them together. */
  const write = async (series: string): Promise<number> => {
    const client = await pool.connect();
    await client.query('BEGIN');
    for (let n = 0; n < calls; n++)
      for (const [revision, { stream, at, event }] of [
        reserved(`${series}-${n}`, 5),
        settled(`${series}-${n}`, 5, 2, { reasoningEffort: 'EFFORT' }),
      ].entries()) {
        const { type, ...data } = event;
        await client.query(
          `INSERT INTO events (position, event_id, stream, revision, type, version, data, at)
           SELECT coalesce(max(position), -1) + 1, gen_random_uuid(), $1, $2, $3, $4,
             replace($5, 'EFFORT', repeat('x', $6))::json, $7 FROM events`,
          [stream, revision, type, currentPayloads.current(type), JSON.stringify(data), effort, at],
        );
      }
    const { rows } = await client.query<{ head: number }>('SELECT max(position) AS head FROM events');
    const head = rows[0]?.head ?? -1;
    await client.query(`SELECT pg_notify('events_appended', $1)`, [`${head} somebody`]);
    await client.query('COMMIT');
    client.release();
    return head;
  };

  await write('before');
  const script = fileURLToPath(new URL('../support/postgres/projecting-process.ts', import.meta.url));
  const options = [`--max-old-space-size=${heapMiB}`, '--import', 'tsx', script, JSON.stringify(connection)];
  const child = spawn(process.execPath, options, { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const exited = once(child, 'exit');
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const said = async (): Promise<string> => (await lines.next()).value ?? 'nothing: the process has ended';
    expect(await said()).toBe('caught up');
    expect(await said()).toBe(`rebuilt ${2 * calls}`);
    const head = await write('live');
    child.stdin.end(`${head}\n`);
    expect(await said()).toBe(`followed to ${head}`);
    expect(await exited).toEqual([0, null]);
    const { rows } = await pool.query(
      `SELECT count(*) AS lines, min(length(reasoning_effort)) AS least FROM ${schemaOf(usageLog)}.usage_log`,
    );
    expect(rows).toEqual([{ lines: 2 * calls, least: effort }]);
  } finally {
    child.kill('SIGKILL');
    await drop();
  }
}, 300_000);
