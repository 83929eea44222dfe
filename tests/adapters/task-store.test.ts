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

  test('forgets the content of a time, and of a user, and keeps the tasks', async () => {
    const [early, late, ofBob] = [
      await store.add(task('a', { seconds: 1 })),
      await store.add(task('b', { seconds: 2 })),
      await store.add(task('c', { seconds: 3, user: bob })),
    ];
    await store.clear(Instant(start + 2_000));
    expect(await Promise.all([early, late, ofBob].map(({ id }) => sealedOf(id)))).toEqual([
      null,
      'sealed by b',
      'sealed by c',
    ]);
    await store.clearOf([bob]);
    expect(await Promise.all([late, ofBob].map(({ id }) => sealedOf(id)))).toEqual(['sealed by b', null]);
    expect(await store.replace(early.id, { was: null, sealed: Sealed('again'), progress: 10 })).toBe(true);
  });
});
