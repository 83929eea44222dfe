import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { postgresTaskStore } from '../../src/adapters/task-store.js';
import type { StoredTask, TaskStore } from '../../src/application/ports/task-ports.js';
import { CallId, Sealed, TaskId, UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { taskFacts } from '../support/given/tasks.js';
import { MemoryTaskStore } from '../support/memory/memory-task-store.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres/postgres.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

const alice = UserId(7);
const bob = UserId(8);
const start = 1_800_000_000_000;

interface Change {
  readonly user?: UserId;
  readonly publicId?: string;
  readonly platform?: 'midjourney' | 'suno';
  readonly seconds?: number;
}

const task = (
  call: string,
  { user = alice, publicId = `of ${call}`, platform = 'suno', seconds = 0 }: Change = {},
): Omit<StoredTask, 'id' | 'progress'> => {
  const { taskId: _, ...facts } = taskFacts({ callId: CallId(call), userId: user, publicId, platform });
  const submittedAt = Instant(start + seconds * 1_000);
  const submission = { ...facts, status: 'submitted', progress: 0 } as const;
  return { callId: facts.callId, userId: user, submittedAt, submission, sealed: Sealed(`sealed by ${call}`) };
};

describe.each<[string, () => Promise<TaskStore>]>([
  [
    'in Postgres',
    async () => {
      await database.pool.query('TRUNCATE task_content');
      return postgresTaskStore(database.pool);
    },
  ],
  ['in memory', async () => new MemoryTaskStore()],
])('a store of tasks %s', (_, open) => {
  let store: TaskStore;
  beforeEach(async () => {
    store = await open();
  });
  const sealedOf = async (id: TaskId) => (await store.byIds([id]))[0]?.sealed;

  test('counts the tasks of a user that are at no end', async () => {
    const [first] = [await store.add(task('a')), await store.add(task('b')), await store.add(task('c', { user: bob }))];
    expect([await store.openOf(alice), await store.openOf(bob), await store.openOf(UserId(9))]).toEqual([2, 1, 0]);
    const content = { was: first.sealed, sealed: Sealed('whole'), progress: 101, endedAt: Instant(start) };
    await store.replace(first.id, content);
    expect(await store.openOf(alice)).toBe(1);
  });

  test('returns a task as it was added', async () => {
    const added = await store.add(task('a'));
    expect(added).toEqual({ ...task('a'), id: expect.any(Number), progress: 0 });
    expect(await store.byIds([added.id])).toEqual([added]);
    expect(await store.byCalls([CallId('a'), CallId('b')])).toEqual([added]);
    expect(await store.byIds([TaskId(added.id + 1_000)])).toEqual([]);
  });

  test('has one task of a call, however often and however concurrently it is added', async () => {
    const added = await Promise.all(Array.from({ length: 10 }, (_, n) => store.add(task('a', { publicId: `${n}` }))));
    expect(new Set(added.map(({ id }) => id)).size).toBe(1);
    expect(new Set(added.map(({ submission }) => submission.publicId)).size).toBe(1);
  });

  test('finds the newest task of each id of one user alone', async () => {
    await store.add(task('a', { publicId: 'one' }));
    const newer = await store.add(task('b', { publicId: 'one' }));
    const other = await store.add(task('c', { publicId: 'two' }));
    await store.add(task('d', { publicId: 'one', user: bob }));
    await store.add(task('e', { publicId: 'one', platform: 'midjourney' }));
    const found = await store.newestOf(alice, ['one', 'two', 'three'], 'suno');
    expect([...found].sort((one, two) => one.id - two.id)).toEqual([newer, other]);
    expect(await store.newestOf(bob, ['two'], 'suno')).toEqual([]);
  });

  test('has pages of one user and platform, in either order, without those that were forgotten', async () => {
    const [one, two, three, four] = [
      await store.add(task('a')),
      await store.add(task('b')),
      await store.add(task('c')),
      await store.add(task('d')),
    ];
    await store.add(task('e', { user: bob }));
    await store.add(task('f', { platform: 'midjourney' }));
    await store.forget(three.id);
    const page = async (after: TaskId | null, order: 'asc' | 'desc') =>
      (await store.page(alice, 'suno', { after, order, limit: 2 })).map(({ id }) => id);
    expect([await page(null, 'desc'), await page(two.id, 'desc')]).toEqual([[four.id, two.id], [one.id]]);
    expect([await page(null, 'asc'), await page(two.id, 'asc')]).toEqual([[one.id, two.id], [four.id]]);
    expect(await page(three.id, 'desc')).toEqual([two.id, one.id]);
  });

  test('replaces content only of what was read, and never by older content', async () => {
    const { id, sealed: was } = await store.add(task('a'));
    const sealed = Sealed('newer');
    expect(await store.replace(id, { was, sealed, progress: 40 })).toBe(true);
    expect(await store.replace(id, { was, sealed: Sealed('lost'), progress: 50 })).toBe(false);
    expect(await store.replace(id, { was: sealed, sealed: Sealed('late'), progress: 30 })).toBe(false);
    expect(await sealedOf(id)).toBe('newer');
    expect(await store.byIds([id])).toMatchObject([{ progress: 40 }]);
  });

  const ended = async (call: string, seconds: number, change: Change = {}) => {
    const { id, sealed: was } = await store.add(task(call, change));
    const end = { sealed: Sealed(`sealed by ${call}`), progress: 101, endedAt: Instant(start + seconds * 1_000) };
    expect(await store.replace(id, { was, ...end })).toBe(true);
    return { id };
  };

  test('forgets the content of a time, and of a user, and keeps the tasks', async () => {
    const [early, late, ofBob] = [
      await ended('a', 1, { seconds: 1 }),
      await ended('b', 2, { seconds: 2 }),
      await ended('c', 3, { seconds: 3, user: bob }),
    ];
    await store.clear(Instant(start + 2_000));
    expect(await Promise.all([early, late, ofBob].map(({ id }) => sealedOf(id)))).toEqual([
      null,
      'sealed by b',
      'sealed by c',
    ]);
    await store.clearOf([bob]);
    expect(await Promise.all([late, ofBob].map(({ id }) => sealedOf(id)))).toEqual(['sealed by b', null]);
    expect(await store.replace(early.id, { was: null, sealed: Sealed('again'), progress: 101 })).toBe(true);
  });

  test('spares the content of a time where the task is at no end, or came to it later', async () => {
    const open = await store.add(task('a', { seconds: 1 }));
    const progressing = await store.add(task('b', { seconds: 1 }));
    await store.replace(progressing.id, { was: progressing.sealed, sealed: Sealed('sealed by b'), progress: 100 });
    const later = await ended('c', 3, { seconds: 1 });
    await store.clear(Instant(start + 2_000));
    expect(await Promise.all([open, progressing, later].map(({ id }) => sealedOf(id)))).toEqual([
      'sealed by a',
      'sealed by b',
      'sealed by c',
    ]);
    // It is said again, later: its end stays where it was.
    const again = { was: Sealed('sealed by c'), sealed: Sealed('again'), progress: 101 };
    await store.replace(later.id, { ...again, endedAt: Instant(start + 9_000) });
    await store.clear(Instant(start + 4_000));
    expect(await Promise.all([open, progressing, later].map(({ id }) => sealedOf(id)))).toEqual([
      'sealed by a',
      'sealed by b',
      null,
    ]);
  });

  test('forgets the content of a task that was at its end when it was submitted', async () => {
    const { submission, ...rest } = task('a', { seconds: 1 });
    const { id } = await store.add({ ...rest, submission: { ...submission, status: 'succeeded' } });
    await store.clear(Instant(start + 1_000));
    expect(await sealedOf(id)).toBe('sealed by a');
    await store.clear(Instant(start + 1_001));
    expect(await sealedOf(id)).toBeNull();
  });
});

describe('a page of the tasks of a user', () => {
  test.each(['asc', 'desc'] as const)('in order %s reads no tasks but its own, wherever it begins', async (order) => {
    const { pool } = database;
    await pool.query('TRUNCATE task_content');
    await pool.query(
      `INSERT INTO task_content (call_id, user_id, public_id, submitted_at, progress, submission, sealed)
       SELECT 'c' || n, 7, 'p' || n, $1, 0,
         json_build_object('platform', CASE WHEN n % 100 = 0 THEN 'video' ELSE 'suno' END), 'sealed'
       FROM generate_series(1, 20000) AS n`,
      [start],
    );
    await pool.query('ANALYZE task_content');
    const { rows: known } = await pool.query<{ task_id: string }>(
      `SELECT task_id FROM task_content WHERE submission->>'platform' = 'video' ORDER BY task_id OFFSET 100 LIMIT 1`,
    );
    const after = TaskId(Number(known[0]?.task_id));
    const asked: { text: string; values: unknown[] }[] = [];
    const watched = {
      query: (text: string, values: unknown[]) => {
        asked.push({ text, values });
        return pool.query(text, values);
      },
    };
    const page = await postgresTaskStore(watched as never).page(alice, 'video', { after, order, limit: 5 });
    expect(page).toHaveLength(5);
    const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Record<string, unknown> }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${asked[0]?.text}`,
      asked[0]?.values,
    );
    const [scan] = (rows[0]?.['QUERY PLAN'][0].Plan.Plans ?? []) as Record<string, unknown>[];
    expect(scan).toMatchObject({ 'Index Name': 'task_content_page', 'Actual Rows': 5 });
    expect(scan?.['Rows Removed by Filter'] ?? 0).toBe(0);
  });
});
