import { afterEach, describe, expect, test, vi } from 'vitest';
import { followTail, mustReach, type TailConsumer } from '../../../src/application/memory/tail.js';
import { beginning, Position, type Recorded, streams } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { recordedAt } from '../../support/given/recorded.js';
import { PushedLog } from '../../support/memory/pushed-log.js';

const at = (position: number): Recorded =>
  recordedAt(position, streams.options, { type: 'OptionChanged', key: 'k', value: { text: String(position) } });

class Notebook implements TailConsumer {
  readonly batches: number[][] = [];

  take(batch: readonly Recorded[]): void {
    this.batches.push(batch.map(({ position }) => Number(position)));
  }
}

afterEach(() => {
  vi.useRealTimers();
});

describe('following the log', () => {
  test('begins after the given position and delivers every batch to all listeners, in order', async () => {
    const log = new PushedLog();
    const [one, two] = [new Notebook(), new Notebook()];
    const tail = followTail(log, Position(4), [one, two]);
    log.push(at(5), at(6));
    log.push(at(7));

    expect(await tail.reached(Position(7), 1_000)).toBe(true);
    expect(log.subscribedAfter).toBe(4);
    expect(one.batches).toStrictEqual([[5, 6], [7]]);
    expect(two.batches).toStrictEqual(one.batches);
    expect(tail.position()).toBe(7);
    await tail.stop();
  });

  test('drops repeated events, whole batches and their beginnings', async () => {
    const log = new PushedLog();
    const notebook = new Notebook();
    const tail = followTail(log, Position(4), [notebook]);
    log.push(at(3), at(4), at(5));
    log.push(at(5));
    log.push(at(4), at(5));
    log.push(at(5), at(6), at(7));
    log.push(at(8));

    await tail.reached(Position(8), 1_000);
    expect(notebook.batches).toStrictEqual([[5], [6, 7], [8]]);
    await tail.stop();
  });

  test('lets listeners join and leave while it runs', async () => {
    const log = new PushedLog();
    const late = new Notebook();
    const tail = followTail(log, beginning, []);
    log.push(at(0));
    await tail.reached(Position(0), 1_000);
    const leave = tail.add(late);
    log.push(at(1));
    await tail.reached(Position(1), 1_000);
    leave();
    log.push(at(2));
    await tail.reached(Position(2), 1_000);

    expect(late.batches).toStrictEqual([[1]]);
    await tail.stop();
  });
});

describe('waiting for a position', () => {
  test('ends at once when it has passed, or when there is nothing to wait for', async () => {
    const log = new PushedLog();
    const tail = followTail(log, Position(4), []);
    expect(await tail.reached(Position(4), 0)).toBe(true);
    expect(await tail.reached(beginning, 0)).toBe(true);
    await tail.stop();
  });

  test('ends when all listeners have processed it, not before', async () => {
    const log = new PushedLog();
    const notebook = new Notebook();
    const tail = followTail(log, beginning, [notebook]);
    const reached = tail.reached(Position(6), 1_000).then(() => notebook.batches.flat());
    log.push(at(5));
    log.push(at(7));
    expect(await reached).toStrictEqual([5, 7]);
    await tail.stop();
  });

  test('ends at its timeout, and not earlier', async () => {
    vi.useFakeTimers();
    const tail = followTail(new PushedLog(), beginning, []);
    let answer: boolean | null = null;
    const waiting = tail.reached(Position(0), 500).then((reached) => {
      answer = reached;
    });
    await vi.advanceTimersByTimeAsync(499);
    expect(answer).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
    expect(answer).toBe(false);
    await tail.stop();
  });

  test('leaves no timer running', async () => {
    vi.useFakeTimers();
    const log = new PushedLog();
    const tail = followTail(log, beginning, []);
    const reached = tail.reached(Position(0), 60_000);
    log.push(at(0));
    await reached;
    expect(vi.getTimerCount()).toBe(0);
    await tail.stop();
  });

  test('that must succeed fails as unavailable when the position is not reached', async () => {
    vi.useFakeTimers();
    const tail = followTail(new PushedLog(), Position(4), []);
    await mustReach(tail, Position(4));
    const refused = expect(mustReach(tail, Position(5))).rejects.toMatchObject({ code: 'store-unavailable' });
    await vi.runAllTimersAsync();
    await refused;
    await tail.stop();
  });
});

describe('the end of following the log', () => {
  test('comes on request, and ends the subscription', async () => {
    const log = new PushedLog();
    const tail = followTail(log, beginning, []);
    await tail.stop();
    expect(log.ended).toBe(true);
    await expect(tail.ended).resolves.toBeUndefined();
  });

  test('is a failure when the log cannot be followed, reported to all readers', async () => {
    const log = new PushedLog();
    const tail = followTail(log, beginning, []);
    log.fail(new Failure('store-unavailable'));
    await expect(tail.ended).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect(tail.stop()).rejects.toMatchObject({ code: 'store-unavailable' });
  });

  test('is a failure when a listener cannot process a batch: the state would be false', async () => {
    const log = new PushedLog();
    const clumsy: TailConsumer = {
      take() {
        throw new Error('dropped it');
      },
    };
    const tail = followTail(log, beginning, [clumsy]);
    log.push(at(0));
    await expect(tail.ended).rejects.toThrow('dropped it');
    expect(tail.position()).toBe(beginning);
  });
});
