import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { EncodedEvent, encodePayload } from '../../../src/adapters/event-log/encoded-event.js';
import {
  type Append,
  type AppendOutcome,
  GroupCommit,
  type WaitingLimits,
} from '../../../src/adapters/event-log/group-commit.js';
import type { AppendResult } from '../../../src/application/ports/storage-ports.js';
import { Position } from '../../../src/domain/events/events.js';
import { newEvent, streamNamed } from '../../support/given/events.js';

const done: AppendResult = { ok: true, revision: 0, position: Position(0) };

/** An append of `size` events, known by its number. */
const append = (number: number, stream: string, size = 1): Append => ({
  stream: streamNamed(stream),
  expected: 'any',
  since: number,
  size,
  events: Array.from({ length: size }, (_, n) => {
    const { id, at, event } = newEvent(n);
    return new EncodedEvent(id, at, event, 1, encodePayload({ number }));
  }),
});

const roomy: WaitingLimits = {
  appends: 10_000,
  size: 1_000_000,
  patienceMs: Number.POSITIVE_INFINITY,
  outcomeGraceMs: 0,
};

/** Writes each batch when the test says so; a batch is known by the numbers of its appends. */
function heldWriter(limits = roomy) {
  const batches: number[][] = [];
  const waiting: ((outcomes: readonly AppendOutcome[]) => void)[] = [];
  let began: () => void = () => undefined;
  const commits = new GroupCommit((batch) => {
    batches.push(batch.map(({ since }) => since));
    began();
    return new Promise((resolve) => waiting.push(resolve));
  }, limits);
  return {
    commits,
    batches,
    async begun(count: number) {
      while (batches.length < count)
        await new Promise<void>((resolve) => {
          began = resolve;
        });
    },
    finish: (outcomes: readonly AppendOutcome[]) => waiting.shift()?.(outcomes),
  };
}

describe('group commit', () => {
  test('writes all appends of one turn of the event loop together', async () => {
    const { commits, batches, begun, finish } = heldWriter();
    const appends = [1, 2, 3].map((n) => commits.add(append(n, `s-${n}`)));
    await begun(1);
    finish([done, done, done]);
    expect(await Promise.all(appends)).toEqual([done, done, done]);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  test('collects while a batch is being written', async () => {
    const { commits, batches, begun, finish } = heldWriter();
    void commits.add(append(1, 's-1'));
    await begun(1);
    void commits.add(append(2, 's-2'));
    await new Promise(setImmediate);
    void commits.add(append(3, 's-3'));
    finish([done]);
    await begun(2);
    expect(batches).toEqual([[1], [2, 3]]);
  });

  test('returns to each append its own outcome', async () => {
    const { commits, begun, finish } = heldWriter();
    const conflict: AppendResult = { ok: false, conflict: { actual: 3 } };
    const results = Promise.allSettled([1, 2, 3].map((n) => commits.add(append(n, `s-${n}`))));
    await begun(1);
    finish([done, conflict, new Error('broken')]);
    expect(await results).toEqual([
      { status: 'fulfilled', value: done },
      { status: 'fulfilled', value: conflict },
      { status: 'rejected', reason: new Error('broken') },
    ]);
  });

  test('never puts two appends to one stream into a batch, and keeps their order', async () => {
    const { commits, batches, begun, finish } = heldWriter();
    for (const [n, stream] of ['a', 'b', 'a', 'c', 'a', 'b'].entries()) void commits.add(append(n, stream));
    await begun(1);
    finish([done, done, done]);
    await begun(2);
    finish([done, done]);
    await begun(3);
    expect(batches).toEqual([[0, 1, 3], [2, 5], [4]]);
  });

  test('ends a batch before an append that does not fit, and keeps the order', async () => {
    const { commits, batches, begun, finish } = heldWriter();
    void commits.add(append(1, 'a', 1_500));
    void commits.add(append(2, 'b', 1_500));
    void commits.add(append(3, 'b'));
    void commits.add(append(4, 'c'));
    await begun(1);
    finish([done]);
    await begun(2);
    finish([done, done]);
    await begun(3);
    expect(batches).toEqual([[1], [2, 4], [3]]);
  });

  test('takes at most 500 appends at a time', async () => {
    const { commits, batches, begun, finish } = heldWriter();
    for (let n = 0; n < 1_100; n++) void commits.add(append(n, `s-${n}`));
    for (const count of [1, 2, 3]) {
      await begun(count);
      finish(Array.from({ length: 500 }, () => done));
    }
    expect(batches.map((batch) => batch.length)).toEqual([500, 500, 100]);
  });

  test('writes an append that is larger than a batch separately', async () => {
    const { commits, batches, begun, finish } = heldWriter();
    void commits.add(append(1, 'a', 5_000));
    void commits.add(append(2, 'b'));
    await begun(1);
    finish([done]);
    await begun(2);
    expect(batches).toEqual([[1], [2]]);
  });

  describe('while the log is slow', () => {
    const busy = { code: 'store-busy' };
    const filling = Array.from({ length: 500 }, () => done);

    test('queues a bounded number of appends, and rejects the others at once as not written', async () => {
      const { commits, batches, begun, finish } = heldWriter({ ...roomy, appends: 2 });
      const first = commits.add(append(1, 's-1'));
      await begun(1);
      const waiting = [commits.add(append(2, 's-2')), commits.add(append(3, 's-3'))];
      await expect(commits.add(append(4, 's-4'))).rejects.toMatchObject(busy);
      finish([done]);
      await first;
      await begun(2);
      const later = commits.add(append(5, 's-5'));
      finish([done, done]);
      expect(await Promise.all(waiting)).toEqual([done, done]);
      await begun(3);
      finish([done]);
      expect(await later).toEqual(done);
      expect(batches).toEqual([[1], [2, 3], [5]]);
    });

    test('limits the size of the queue, but accepts a single large append', async () => {
      const { commits, begun, finish } = heldWriter({ ...roomy, size: 10 });
      void commits.add(append(1, 's-1', 500));
      await begun(1);
      void commits.add(append(2, 's-2', 9));
      await expect(commits.add(append(3, 's-3', 2))).rejects.toMatchObject(busy);
      void commits.add(append(4, 's-4', 1));
      finish([done]);
      await begun(2);
      finish([done, done]);
      await commits.drained();
    });

    test('does not write an append that has waited longer than its timeout', async () => {
      const patienceMs = 50;
      const { commits, batches, begun, finish } = heldWriter({ ...roomy, patienceMs });
      void commits.add(append(performance.now(), 's-1'));
      await begun(1);
      const old = expect(commits.add(append(performance.now() - patienceMs - 1, 's-2'))).rejects.toMatchObject(busy);
      finish([done]);
      await old;
      await commits.drained();
      expect(batches).toHaveLength(1);
    });

    describe('and does not answer', () => {
      beforeEach(() => {
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      });
      afterEach(() => {
        vi.useRealTimers();
      });

      test('rejects an append behind the batch when its timeout has passed', async () => {
        const { commits, batches, begun, finish } = heldWriter({ ...roomy, patienceMs: 50, outcomeGraceMs: 1_000 });
        const inFlight = commits.add(append(performance.now(), 's-1'));
        await begun(1);
        const queued = expect(commits.add(append(performance.now(), 's-2'))).rejects.toMatchObject(busy);
        vi.advanceTimersByTime(52);
        await queued;
        expect(batches).toHaveLength(1);
        finish([done]);
        expect(await inFlight).toEqual(done);
        const later = commits.add(append(performance.now(), 's-3'));
        await begun(2);
        finish([done]);
        expect(await later).toEqual(done);
      });

      test('reports the outcome of an append in the batch as unknown, while a younger one waits on', async () => {
        const { commits, begun, finish } = heldWriter({ ...roomy, patienceMs: 50, outcomeGraceMs: 20 });
        const started = performance.now();
        const old = commits.add(append(started, 's-1'));
        vi.advanceTimersByTime(30);
        const young = commits.add(append(performance.now(), 's-2'));
        await begun(1);
        const rejection = expect(old).rejects.toMatchObject({ code: 'store-unavailable' });
        vi.advanceTimersByTime(42);
        await rejection;
        finish([done, done]);
        expect(await young).toEqual(done);
        await commits.drained();
      });
    });

    test('rejects at once while it hangs, except for one batch that probes the log', async () => {
      const { commits, begun, finish } = heldWriter({ ...roomy, patienceMs: 1_000 });
      const failed = expect(commits.add(append(performance.now(), 's-1'))).rejects.toThrow('no answer');
      await begun(1);
      const muchLater = performance.now() + 1_001;
      await expect(commits.add(append(muchLater, 's-2'))).rejects.toMatchObject(busy);
      finish([new Error('no answer')]);
      await failed;
      const newer = commits.add(append(muchLater, 's-3'));
      await begun(2);
      await expect(commits.add(append(muchLater, 's-4'))).rejects.toMatchObject(busy);
      finish([done]);
      expect(await newer).toEqual(done);
      const admitted = commits.add(append(muchLater, 's-5'));
      await begun(3);
      finish([done]);
      expect(await admitted).toEqual(done);
    });

    test('keeps a batch within a size', async () => {
      const { commits, batches, begun, finish } = heldWriter({ ...roomy, size: 100_000_000 });
      const huge = { size: 3 * 1024 * 1024 };
      void commits.add({ ...append(1, 's-1'), ...huge });
      void commits.add({ ...append(2, 's-2'), ...huge });
      void commits.add(append(3, 's-3'));
      await begun(1);
      finish(filling);
      await begun(2);
      expect(batches).toEqual([[1], [2, 3]]);
      finish(filling);
    });
  });

  test('continues after a batch that failed as a whole', async () => {
    const failures = [new Error('broken')];
    const commits = new GroupCommit(async (batch) => {
      const failure = failures.pop();
      if (failure !== undefined) throw failure;
      return batch.map(() => done);
    }, roomy);
    await expect(Promise.all([commits.add(append(1, 'a')), commits.add(append(2, 'b'))])).rejects.toThrow('broken');
    expect(await commits.add(append(3, 'c'))).toEqual(done);
  });

  test('is drained when nothing waits and nothing is being written', async () => {
    const { commits, begun, finish } = heldWriter();
    await commits.drained();
    void commits.add(append(1, 'a'));
    void commits.add(append(2, 'a'));
    let drained = false;
    const draining = commits.drained().then(() => {
      drained = true;
    });
    await begun(1);
    finish([done]);
    await begun(2);
    expect(drained).toBe(false);
    finish([done]);
    await draining;
  });
});
