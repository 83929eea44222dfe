import { pino } from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Position } from '../../src/domain/events/events.js';
import { ProjectingThread, type ThreadPatience } from '../../src/projecting/projecting-thread.js';
import { MemoryEventStore } from '../support/memory/memory-event-store.js';

/* What becomes of a node whose projectors die, with a thread in their place that does so on demand. */

const running: ProjectingThread[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((runner) => runner.stop()));
});

const future = Position(1_000);

async function start(behaviour: string, patience: Partial<ThreadPatience> = {}) {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const logged: { level: number; msg: string; err?: { message: string; code?: string } }[] = [];
  const lost = vi.fn<(reason: string) => void>();
  const runner = new ProjectingThread({
    log: pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    lost,
    entry: new URL('../support/frail-thread.mjs', import.meta.url),
    patience: { restartMs: 1, ...patience },
  });
  running.push(runner);
  const setting = { connection: { url: '' }, keys: new Map(), lingerMs: 0, behaviour, shared };
  await runner.start(new MemoryEventStore(), setting);
  return { runner, lost, errors: () => logged.filter(({ level }) => level >= 50), threads: () => shared[0] };
}

const deaths: [string, string, RegExp, Partial<ThreadPatience>][] = [
  ['throws', 'throw', /the fold has lost its mind/, {}],
  ['hangs', 'hang', /has not answered/, { askMs: 50, unanswered: 40 }],
];

describe('a projection thread that ends unexpectedly', () => {
  test.each(deaths)(
    'because it %s is restarted, visibly; waiting callers get the answer of the next one',
    async (...death) => {
      const [, behaviour, reason, patience] = death;
      const { runner, lost, errors, threads } = await start(behaviour, patience);
      expect(runner.status()).toMatchObject([{ position: 10, leading: true }]);
      expect(await runner.reached(future, 60_000)).toBe(true);
      expect(runner.status()).toMatchObject([{ position: 20, leading: true }]);
      expect(threads()).toBe(2);
      expect(errors()).toMatchObject([{ msg: 'the projectors have ended unasked' }]);
      expect(errors()[0]?.err?.message).toMatch(reason);
      expect(lost).not.toHaveBeenCalled();
    },
  );

  test('keeps no caller waiting beyond its timeout', async () => {
    const { runner } = await start('throw', { restartMs: 60_000 });
    expect(await runner.reached(future, 200)).toBe(false);
    // Nobody keeps them now, and that is to be seen.
    expect(runner.status()).toMatchObject([{ position: 10, leading: false }]);
  });

  test('is not waited for when the node stops', async () => {
    const { runner, errors } = await start('throw', { restartMs: 60_000 });
    const waiting = runner.reached(future, 60_000);
    await vi.waitFor(() => expect(errors()).toHaveLength(1), 10_000);
    await runner.stop();
    expect(await waiting).toBe(false);
  });
});

describe('projection threads that crash repeatedly', () => {
  test('are given up after the fifth: the node is notified, and waiting calls end', async () => {
    const { runner, lost, threads } = await start('always-dies');
    const waiting = runner.reached(future, 60_000);
    await vi.waitFor(() => expect(lost).toHaveBeenCalledOnce(), 20_000);
    expect(lost.mock.calls[0]?.[0]).toMatch(/read models cannot be kept any more: the fold has lost its mind/);
    expect(threads()).toBe(6);
    expect(await waiting).toBe(false);
    expect(await runner.reached(future, 60_000)).toBe(false);
    await expect(runner.caughtUp()).rejects.toThrow('cannot be kept');
  });

  test('before they have started are counted as well', async () => {
    const { lost, runner, threads } = await start('starts-once', { crashes: 3 });
    void runner.reached(future, 60_000);
    await vi.waitFor(() => expect(lost).toHaveBeenCalledOnce(), 20_000);
    expect(threads()).toBe(4);
  });
});

test('a projection thread that cannot start prevents the start', async () => {
  await expect(start('never-starts')).rejects.toThrow('the fold has lost its mind');
});
