import { describe, expect, test } from 'vitest';
import type { AskedTasks, OpenTask, TaskTerms } from '../../../src/application/ports/task-poll-ports.js';
import type { TaskObservation } from '../../../src/application/ports/task-ports.js';
import { TaskPoller } from '../../../src/application/reactions/task-poller.js';
import { ChannelId, TaskId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { TaskStatus } from '../../../src/domain/task/task.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';

/* Upstreams are asked about open tasks: in batches, less often when they do not answer, and no task is forgotten. */

const minute = 60_000;
const hour = 60 * minute;

const observation = (upstreamId: string, status: TaskStatus, progress: number | null = null): TaskObservation => ({
  ...{ upstreamId, status, progress, startedAt: null, finishedAt: null },
  content: { urls: [] },
});

class World {
  readonly clock = settableClock(someInstant);
  uptime = 1_000_000;
  readonly tasks: OpenTask[] = [];
  readonly observed: [id: number, status: string, reason: string | undefined][] = [];
  readonly asked: { readonly channel: number; readonly ids: readonly string[] }[] = [];
  readonly logged: string[] = [];
  terms: TaskTerms | 'gone' | 'unasked' = { batch: 3, limitMs: hour };
  answer: (channel: number, ids: readonly string[]) => Promise<AskedTasks> | AskedTasks = (_channel, ids) => ({
    kind: 'seen',
    tasks: ids.map((id) => observation(id, 'in-progress')),
  });
  failsToWrite = false;
  written: Promise<void> = Promise.resolve();
  readonly poller = new TaskPoller({
    open: {
      page: async (after, limit) => this.tasks.filter(({ taskId }) => taskId > (after ?? 0)).slice(0, limit),
      find: async (id) => this.tasks.find(({ taskId }) => taskId === id) ?? null,
    },
    upstreams: {
      terms: () => this.terms,
      ask: async (channel, _platform, tasks) => {
        const ids = tasks.map(({ upstreamId }) => upstreamId);
        this.asked.push({ channel, ids });
        return this.answer(channel, ids);
      },
    },
    observe: async (id, { status, reason }) => {
      if (this.failsToWrite) throw new Error('the log is away');
      await this.written;
      this.observed.push([id, status, reason]);
    },
    clock: this.clock,
    uptimeMs: () => this.uptime,
    everyMs: 15_000,
    log: {
      info: (_facts, message) => void this.logged.push(message),
      warn: (_facts, message) => void this.logged.push(message),
    },
  });

  add(count: number, channel = 3, ageMs = 0): void {
    for (let left = count; left > 0; left--) {
      const id = this.tasks.length + 1;
      this.tasks.push({
        ...{ taskId: TaskId(id), channelId: ChannelId(channel), platform: 'suno', upstreamId: `u${id}` },
        ...{ action: 'MUSIC', model: 'suno_music', submittedAt: Instant(this.clock.now() - ageMs) },
        known: { status: 'submitted', progress: 0, startedAt: null },
      });
    }
  }

  async round(): Promise<void> {
    await this.poller.round();
    await this.poller.settled();
  }

  /** Time of the process and of the clock. */
  pass(ms: number): void {
    this.uptime += ms;
    this.clock.advance(ms);
  }
}

const givenTasks = (count: number, channel?: number, ageMs?: number): World => {
  const world = new World();
  world.add(count, channel, ageMs);
  return world;
};
const unreached: AskedTasks = { kind: 'unreached', why: 'the upstream did not answer in time' };

describe('a round of polls', () => {
  test('asks each channel about its own tasks, in batches', async () => {
    const world = givenTasks(4, 3);
    world.add(2, 5);
    await world.round();
    expect(world.asked).toHaveLength(3);
    expect(world.asked).toEqual(
      expect.arrayContaining([
        { channel: 3, ids: ['u1', 'u2', 'u3'] },
        { channel: 3, ids: ['u4'] },
        { channel: 5, ids: ['u5', 'u6'] },
      ]),
    );
    expect(world.observed).toHaveLength(6);
  });

  test('reads all pages of what is open', async () => {
    const world = givenTasks(2_500);
    world.terms = { batch: 5_000, limitMs: hour };
    await world.round();
    expect(world.asked.map(({ ids }) => ids.length)).toEqual([2_500]);
  });

  test('sends four requests at a time, and a channel that is silent delays no other', async () => {
    const world = new World();
    for (let channel = 1; channel <= 9; channel++) world.add(1, channel);
    const silent: (() => void)[] = [];
    let working = 0;
    let most = 0;
    world.answer = async (channel, ids) => {
      most = Math.max(most, ++working);
      if (channel === 1) await new Promise<void>((answer) => silent.push(answer));
      working--;
      return { kind: 'seen', tasks: ids.map((id) => observation(id, 'in-progress')) };
    };
    await world.poller.round();
    const others = async () => {
      while (world.observed.length < 8) await new Promise((resolve) => setImmediate(resolve));
    };
    await others();
    await world.poller.round();
    while (world.observed.length < 16) await new Promise((resolve) => setImmediate(resolve));
    expect(world.asked.filter(({ channel }) => channel === 1)).toHaveLength(1);
    expect(most).toBeLessThanOrEqual(4);
    for (const answer of silent) answer();
    await world.poller.settled();
  });

  test('passes on what upstream says, in the order of the tasks, and nothing of tasks it leaves out', async () => {
    const world = givenTasks(3);
    world.answer = () => ({ kind: 'seen', tasks: [observation('u3', 'failed'), observation('u1', 'succeeded', 100)] });
    await world.round();
    expect(world.observed).toEqual([
      [1, 'succeeded', undefined],
      [3, 'failed', undefined],
    ]);
  });

  test('sends requests while what others were answered is being written', async () => {
    const world = new World();
    for (let channel = 1; channel <= 9; channel++) world.add(1, channel);
    let write = (): void => {};
    world.written = new Promise((resolve) => {
      write = resolve;
    });
    await world.poller.round();
    while (world.asked.length < 9) await new Promise((resolve) => setImmediate(resolve));
    expect(world.observed).toEqual([]);
    write();
    await world.poller.settled();
    expect(world.observed).toHaveLength(9);
  });

  test('asks no channel that has become silent while it waited for its turn', async () => {
    const world = new World();
    for (let channel = 1; channel <= 5; channel++) world.add(1, channel);
    let answerAll = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    world.answer = async (channel) => {
      if (channel < 5) await answered;
      return unreached;
    };
    await world.poller.round();
    while (world.asked.length < 4) await new Promise((resolve) => setImmediate(resolve));
    await world.poller.look(TaskId(5));
    answerAll();
    await world.poller.settled();
    expect(world.asked.filter(({ channel }) => channel === 5)).toHaveLength(1);
  });

  test('goes through all tasks though one cannot be written down', async () => {
    const world = givenTasks(2);
    world.failsToWrite = true;
    await world.round();
    expect(world.logged.filter((line) => line.includes('cannot be written'))).toHaveLength(2);
    world.failsToWrite = false;
    await world.round();
    expect(world.observed).toHaveLength(2);
  });
});

describe('an upstream that does not answer', () => {
  test('is asked less and less often, once a batch, up to every five minutes, and normally when it answers', async () => {
    const world = givenTasks(9);
    world.answer = () => unreached;
    const at: number[] = [];
    const begun = world.uptime;
    for (let seconds = 0; seconds < 1_800; seconds += 15) {
      const before = world.asked.length;
      await world.round();
      if (world.asked.length > before) at.push((world.uptime - begun) / 1000);
      world.pass(15_000);
    }
    expect(at).toEqual([0, 15, 45, 105, 225, 465, 765, 1065, 1365, 1665]);
    expect(world.asked).toHaveLength(at.length);
    expect(world.logged).toEqual(['an upstream cannot be asked about its tasks; it is asked less often']);
    world.answer = (_channel, ids) => ({ kind: 'seen', tasks: ids.map((id) => observation(id, 'queued')) });
    world.pass(300_000);
    await world.round();
    await world.round();
    expect(world.logged[1]).toBe('an upstream can be asked about its tasks again');
    expect(world.asked).toHaveLength(at.length + 6);
  });

  test('leaves tasks open until their time is over, and ten minutes of this process', async () => {
    const world = givenTasks(1, 3, 2 * hour);
    world.answer = () => unreached;
    await world.round();
    world.pass(9 * minute);
    await world.round();
    expect(world.observed).toEqual([]);
    world.pass(2 * minute);
    await world.round();
    expect(world.observed).toEqual([[1, 'failed', 'timed-out']]);
  });

  test('that throws is treated as one that is not reached', async () => {
    const world = givenTasks(1);
    world.answer = () => Promise.reject(new Error('a mistake of ours'));
    await world.round();
    await world.round();
    expect(world.asked).toHaveLength(1);
  });
});

describe('an upstream that refuses a batch because of one task', () => {
  const poisoned = (world: World, poison: string) => {
    world.answer = (_channel, ids) =>
      ids.includes(poison)
        ? { kind: 'refused', why: 'an answer with status 500' }
        : { kind: 'seen', tasks: ids.map((id) => observation(id, 'in-progress')) };
  };

  test.each([1, 17, 32, 50])('says how all others are: task %i of fifty', async (at) => {
    const world = givenTasks(50);
    world.terms = { batch: 50, limitMs: hour };
    poisoned(world, `u${at}`);
    await world.round();
    expect(world.observed.map(([id]) => id)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1).filter((id) => id !== at),
    );
    expect(world.asked.length).toBeLessThan(16);
  });

  test('is asked less often where it refuses everything', async () => {
    const world = givenTasks(200);
    world.terms = { batch: 50, limitMs: hour };
    world.answer = () => ({ kind: 'refused', why: 'an answer with status 502' });
    await world.round();
    const once = world.asked.length;
    expect(once).toBeLessThan(10);
    await world.round();
    expect(world.asked).toHaveLength(once);
  });

  test('has that task fail when its time is over', async () => {
    const world = givenTasks(3);
    poisoned(world, 'u2');
    await world.round();
    world.pass(hour + minute);
    await world.round();
    expect(world.observed.filter(([id]) => id === 2)).toEqual([[2, 'failed', 'timed-out']]);
  });
});

describe('a task at no end', () => {
  test.each([
    ['upstream still works at it', (ids: readonly string[]) => ids.map((id) => observation(id, 'in-progress', 40))],
    ['upstream does not list it any more', () => []],
  ] as const)('fails after its time though %s', async (_why, tasks) => {
    const world = givenTasks(1);
    world.answer = (_channel, ids) => ({ kind: 'seen', tasks: tasks(ids) });
    await world.round();
    world.pass(hour);
    await world.round();
    expect(world.observed.filter(([, status]) => status === 'failed')).toEqual([]);
    world.pass(1);
    await world.round();
    expect(world.observed.at(-1)).toEqual([1, 'failed', 'timed-out']);
  });

  test('that is old when this process comes to know it is asked about for ten minutes before it fails', async () => {
    const world = givenTasks(1, 3, 5 * hour);
    world.answer = () => ({ kind: 'seen', tasks: [] });
    await world.round();
    world.pass(10 * minute - 1);
    await world.round();
    expect(world.observed).toEqual([]);
    world.pass(1);
    await world.round();
    expect(world.observed).toEqual([[1, 'failed', 'timed-out']]);
  });

  test('is not failed by its age where upstream says that it has succeeded', async () => {
    const world = givenTasks(1, 3, 5 * hour);
    world.answer = () => ({ kind: 'seen', tasks: [observation('u1', 'succeeded')] });
    await world.round();
    expect(world.observed).toEqual([[1, 'succeeded', undefined]]);
  });

  test.each([
    ['forwards', 48 * hour],
    ['backwards', -48 * hour],
  ])('is as old as before when the clock is set %s', async (_way, step) => {
    const world = givenTasks(1);
    world.answer = () => ({ kind: 'seen', tasks: [] });
    await world.round();
    world.clock.advance(step);
    await world.round();
    expect(world.observed).toEqual([]);
    world.uptime += hour + 1;
    await world.round();
    expect(world.observed).toEqual([[1, 'failed', 'timed-out']]);
  });

  test('fails at once where its channel is gone, without a request', async () => {
    const world = givenTasks(2);
    world.terms = 'gone';
    await world.round();
    expect(world.asked).toEqual([]);
    expect(world.observed).toEqual([
      [1, 'failed', 'channel-gone'],
      [2, 'failed', 'channel-gone'],
    ]);
  });

  test('fails after the longest time where its channel takes no such tasks any more', async () => {
    const world = givenTasks(1);
    world.terms = 'unasked';
    await world.round();
    world.pass(23 * hour);
    await world.round();
    expect(world.observed).toEqual([]);
    world.pass(2 * hour);
    await world.round();
    expect(world.observed).toEqual([[1, 'failed', 'timed-out']]);
  });
});

describe('a look at a task', () => {
  test('asks upstream now, at most every two seconds for all callers', async () => {
    const world = givenTasks(1);
    await Promise.all(Array.from({ length: 20 }, () => world.poller.look(TaskId(1))));
    expect(world.asked).toEqual([{ channel: 3, ids: ['u1'] }]);
    world.pass(1_999);
    await world.poller.look(TaskId(1));
    expect(world.asked).toHaveLength(1);
    world.pass(1);
    await world.poller.look(TaskId(1));
    expect(world.asked).toHaveLength(2);
    expect(world.observed).toHaveLength(2);
  });

  test('asks about several tasks of a channel together', async () => {
    const world = givenTasks(3);
    await Promise.all([1, 2, 3].map((id) => world.poller.look(TaskId(id))));
    expect(world.asked).toEqual([{ channel: 3, ids: ['u1', 'u2', 'u3'] }]);
  });

  /** Requests that stay open until they are answered. */
  const held = (world: World) => {
    const waiting: ((answer: AskedTasks) => void)[] = [];
    world.answer = () => new Promise((resolve) => waiting.push(resolve));
    return {
      answerAll: (answer: AskedTasks) => {
        for (const resolve of waiting.splice(0)) resolve(answer);
      },
    };
  };
  const seen: AskedTasks = { kind: 'seen', tasks: [] };
  const isAsked = async (world: World, times: number) => {
    while (world.asked.length < times) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Longer than looks gather. */
  const afterGathering = () => new Promise((resolve) => setTimeout(resolve, 50));

  test('shares the request that has begun, however long that takes', async () => {
    const world = givenTasks(1);
    const requests = held(world);
    const looks = [world.poller.look(TaskId(1))];
    await isAsked(world, 1);
    world.pass(minute);
    looks.push(world.poller.look(TaskId(1)), world.poller.look(TaskId(1)));
    await afterGathering();
    requests.answerAll(seen);
    await Promise.all(looks);
    expect(world.asked).toHaveLength(1);
  });

  test('is one of two of its channel at most; those that wait ask together, and other channels do not wait', async () => {
    const world = givenTasks(5);
    world.add(1, 8);
    const requests = held(world);
    const looks = [world.poller.look(TaskId(1))];
    await isAsked(world, 1);
    looks.push(world.poller.look(TaskId(2)));
    await isAsked(world, 2);
    looks.push(...[3, 4].map((id) => world.poller.look(TaskId(id))));
    await afterGathering();
    looks.push(world.poller.look(TaskId(5)), world.poller.look(TaskId(6)));
    await isAsked(world, 3);
    expect(world.asked.map(({ ids }) => ids)).toEqual([['u1'], ['u2'], ['u6']]);
    requests.answerAll(seen);
    await isAsked(world, 4);
    requests.answerAll(seen);
    await Promise.all(looks);
    expect(world.asked.slice(3)).toEqual([{ channel: 3, ids: ['u3', 'u4', 'u5'] }]);
  });

  test('sends no request where the upstream became silent while it waited, and makes no pause longer', async () => {
    const world = givenTasks(3);
    const requests = held(world);
    const looks = [world.poller.look(TaskId(1))];
    await isAsked(world, 1);
    looks.push(world.poller.look(TaskId(2)));
    await isAsked(world, 2);
    looks.push(world.poller.look(TaskId(3)));
    await afterGathering();
    requests.answerAll(unreached);
    await Promise.all(looks);
    expect(world.asked).toHaveLength(2);
    world.answer = () => seen;
    world.pass(15_000);
    await world.round();
    expect(world.asked).toHaveLength(3);
  });

  test('sends no request where the upstream is silent, and never rejects', async () => {
    const world = givenTasks(1);
    world.answer = () => unreached;
    await world.round();
    await world.poller.look(TaskId(1));
    await world.poller.look(TaskId(99));
    expect(world.asked).toHaveLength(1);
  });
});

describe('a poller that stops', () => {
  test('begins nothing more, and waits for what is in progress', async () => {
    const world = givenTasks(6);
    let answerFirst = (): void => {};
    world.answer = (_channel, ids) =>
      new Promise((resolve) => {
        answerFirst = () => resolve({ kind: 'seen', tasks: ids.map((id) => observation(id, 'queued')) });
      });
    const stop = world.poller.start();
    await world.poller.round();
    while (world.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const stopped = stop();
    answerFirst();
    await stopped;
    expect([world.asked.length, world.observed.length]).toEqual([1, 3]);
  });
});
