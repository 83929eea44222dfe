import { beforeEach, describe, expect, test, vi } from 'vitest';
import { observeTask } from '../../../src/application/tasks/observe-task.js';
import { recordTask } from '../../../src/application/tasks/record-task.js';
import { openContents } from '../../../src/application/tasks/task-content.js';
import { beginning, streams } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { CallId, type TaskId, UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { released, reserved, settled } from '../../support/given/calls.js';
import { MemoryEventStore } from '../../support/memory/memory-event-store.js';
import { newTask, seenTask, type TaskWorld, taskWorld } from './task-setting.js';

let log: MemoryEventStore;
let world: TaskWorld;
beforeEach(() => {
  log = new MemoryEventStore();
  world = taskWorld(log);
});

const callId = CallId('drawing-1');
const reserve = () => world.record(streams.call(callId), reserved({ quota: 50 }));
const settle = (charged = 50) => world.record(streams.call(callId), settled({ quota: 50, charged }));
const submit = (change: Partial<Parameters<typeof newTask>[0]> = {}): Promise<TaskId> =>
  recordTask(world.ports, newTask({ callId, ...change }));
const observe = (task: TaskId, seen: Parameters<typeof seenTask>[0]) => observeTask(world.ports, task, seenTask(seen));
const allEvents = () => log.readAll(beginning, 1_000);
const contentOf = async (task: TaskId) => {
  const [stored] = await world.ports.tasks.byIds([task]);
  if (stored === undefined) throw new Error('there is no such task');
  return (await openContents(world.ports.personal, [{ user: stored.userId, sealed: stored.sealed }]))[0];
};
const statusesOf = async (task: TaskId) =>
  (await world.taskEvents(task)).map((event) => ('status' in event ? event.status : event.type));

describe('a submitted task', () => {
  test('is an event that holds none of its content', async () => {
    const task = await submit({ content: { prompt: 'a secret cat', urls: ['https://a.example.org/secret.png'] } });
    expect(await world.taskEvents(task)).toMatchObject([{ type: 'TaskSubmitted', status: 'submitted' }]);
    expect(JSON.stringify(await allEvents())).not.toContain('secret');
    expect(await contentOf(task)).toMatchObject({ prompt: 'a secret cat' });
  });

  test('is the same task when its call submits it again', async () => {
    const tasks = await Promise.all([submit(), submit(), submit()]);
    expect(new Set(tasks).size).toBe(1);
    expect(await allEvents()).toHaveLength(1);
  });

  test('leaves nothing behind when the log would refuse it', async () => {
    await expect(submit({ upstreamId: '../other' })).rejects.toMatchObject({ code: 'invalid-field' });
    expect(await world.ports.tasks.byCalls([callId])).toEqual([]);
  });

  test('may be at its end already', async () => {
    const task = await submit({ status: 'succeeded', progress: 100 });
    expect(await world.taskEvents(task)).toMatchObject([{ type: 'TaskSubmitted' }, { type: 'TaskSucceeded' }]);
  });

  test('that is said to have failed is looked into', async () => {
    const task = await submit({ status: 'failed' });
    expect(await world.taskEvents(task)).toMatchObject([{ type: 'TaskSubmitted', status: 'unknown' }]);
  });
});

describe('a report on a task', () => {
  test('keeps its content, and changes nothing when it is repeated or outdated', async () => {
    const task = await submit();
    const early = { progress: 20, content: { urls: ['https://a.example.org/early.png'] } };
    const later = { progress: 60, content: { urls: ['https://a.example.org/later.png'] } };
    await observe(task, later);
    for (const report of [early, later, early]) await observe(task, report);
    expect(await statusesOf(task)).toEqual(['submitted', 'in-progress']);
    expect(await contentOf(task)).toEqual({ prompt: 'a cat', urls: later.content.urls });
  });

  test('at the end is final for events and content', async () => {
    const task = await submit();
    await observe(task, { status: 'succeeded', content: { urls: ['https://a.example.org/whole.png'] } });
    await observe(task, { status: 'failed', content: { failReason: 'no', urls: [] } });
    await observe(task, { progress: 99, content: { urls: ['https://a.example.org/half.png'] } });
    expect(await statusesOf(task)).toEqual(['submitted', 'TaskSucceeded']);
    expect(await contentOf(task)).toMatchObject({ urls: ['https://a.example.org/whole.png'] });
  });

  test('is believed about times only near to now', async () => {
    const task = await submit();
    await observe(task, { startedAt: Instant(1), progress: 5 });
    const startedAt = Instant(world.clock.now() + 2_000);
    await observe(task, { startedAt, progress: 6 });
    expect((await world.taskEvents(task)).map((event) => 'startedAt' in event && event.startedAt)).toEqual([
      false,
      null,
      startedAt,
    ]);
  });

  test('of a user who was deleted still counts', async () => {
    const task = await submit();
    const gone = async () => {
      throw new Failure('user-not-found');
    };
    Object.assign(world.ports.personal, { seal: gone });
    await observe(task, { progress: 50, content: { state: 'x', urls: [] } });
    expect(await statusesOf(task)).toEqual(['submitted', 'in-progress']);
  });

  test('that says nothing new reads no log, and keeps what is shown', async () => {
    const task = await submit();
    await observe(task, { progress: 40 });
    const known = { status: 'in-progress', progress: 40, startedAt: null } as const;
    const read = vi.spyOn(log, 'readStream');
    const content = { urls: ['https://a.example.org/same.png'] };
    for (const progress of [40, 30, null]) await observeTask(world.ports, task, seenTask({ progress, content }), known);
    await observeTask(world.ports, task, seenTask({ status: 'queued', progress: 40 }), known);
    expect(read).not.toHaveBeenCalled();
    expect(await contentOf(task)).toMatchObject(content);
    await observeTask(world.ports, task, seenTask({ progress: 41 }), known);
    await observeTask(world.ports, task, seenTask({ status: 'succeeded' }), known);
    expect(await statusesOf(task)).toEqual(['submitted', 'in-progress', 'in-progress', 'TaskSucceeded']);
  });

  test('of an end whose content cannot be kept is written when it is seen again', async () => {
    await reserve();
    const task = await submit();
    await settle();
    const content = { urls: ['https://a.example.org/whole.mp4'] };
    const busy = vi.spyOn(world.ports.tasks, 'replace').mockResolvedValue(false);
    for (const status of ['succeeded', 'failed'] as const)
      await expect(observe(task, { status, content })).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(await statusesOf(task)).toEqual(['submitted']);
    // What is on its way is said again in any case.
    await observe(task, { progress: 20, content });
    busy.mockRestore();
    await observe(task, { status: 'succeeded', content });
    expect(await statusesOf(task)).toEqual(['submitted', 'in-progress', 'TaskSucceeded']);
    expect(await contentOf(task)).toMatchObject(content);
  });

  test('keeps what an open task shows when the log of its time is cleared, until it has been at its end', async () => {
    const task = await submit({ content: { prompt: 'a cat', result: '{"order":1}', urls: [] } });
    const submittedAt = world.clock.now();
    world.clock.advance(60_000);
    await world.ports.tasks.clear(world.clock.now());
    await observe(task, { status: 'succeeded', content: { urls: ['https://a.example.org/whole.mp4'] } });
    await world.ports.tasks.clear(Instant(submittedAt + 1));
    expect(await contentOf(task)).toMatchObject({ prompt: 'a cat', result: '{"order":1}' });
    await world.ports.tasks.clear(Instant(world.clock.now() + 1));
    expect(await contentOf(task)).toBeNull();
  });

  test('about an unknown task changes nothing', async () => {
    await observe(41 as TaskId, { status: 'failed' });
    expect(await allEvents()).toEqual([]);
  });
});

describe('a failed task', () => {
  test('names its charge, which is refunded once however often the reaction runs', async () => {
    await reserve();
    const task = await submit();
    await settle();
    await observe(task, { status: 'failed', content: { failReason: 'bad prompt', urls: [] } });
    expect(await world.taskEvents(task)).toMatchObject([
      { type: 'TaskSubmitted' },
      { type: 'TaskFailed', reason: 'upstream', refund: { callId, charged: 50 } },
    ]);
    expect(await world.callEvents(callId)).toHaveLength(2);
    const seen = await allEvents();
    await Promise.all([world.refund(seen), world.refund(seen)]);
    await world.refund(await allEvents());
    expect((await world.callEvents(callId)).slice(2)).toMatchObject([
      {
        type: 'CallRefunded',
        settlement: { charged: 50 },
        suspense: 0,
        code: 'task_failed',
        task: { id: task, platform: 'midjourney', action: 'IMAGINE', reason: 'upstream' },
      },
    ]);
  });

  test('waits with its end until its call has an outcome', async () => {
    await reserve();
    const task = await submit();
    await observe(task, { status: 'failed' });
    expect(await statusesOf(task)).toEqual(['submitted']);
    await settle();
    await observe(task, { status: 'failed' });
    expect(await world.taskEvents(task)).toMatchObject([{}, { refund: { charged: 50 } }]);
  });

  test('gives nothing back when nothing was charged', async () => {
    await reserve();
    const task = await submit();
    await world.record(streams.call(callId), released({ quota: 50 }));
    await observe(task, { status: 'failed', reason: 'rejected' });
    expect(await world.taskEvents(task)).toMatchObject([{}, { reason: 'rejected', refund: null }]);
    await world.refund(await allEvents());
    expect(await world.callEvents(callId)).toHaveLength(2);
  });

  test.each([
    ['timed-out', 50, 504],
    ['channel-gone', 50, 503],
    ['upstream', 0, 502],
    ['cancelled', 0, 409],
  ] as const)('because of %s books %i to suspense', async (reason, suspense, status) => {
    await reserve();
    const task = await submit();
    await settle();
    await observe(task, { status: 'failed', reason });
    await world.refund(await allEvents());
    expect((await world.callEvents(callId)).at(-1)).toMatchObject({ type: 'CallRefunded', suspense, status });
  });

  test('belongs to the user who submitted it', async () => {
    const task = await submit({ userId: UserId(8), publicId: 'shared' });
    await submit({ callId: CallId('drawing-2'), publicId: 'shared' });
    const found = await world.ports.tasks.newestOf(UserId(8), ['shared'], 'midjourney');
    expect(found.map(({ id }) => id)).toEqual([task]);
  });
});
