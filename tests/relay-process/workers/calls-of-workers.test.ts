import { expect, test } from 'vitest';
import type { CallProgress } from '../../../src/domain/call/call-progress.js';
import { Position } from '../../../src/domain/events/events.js';
import { CallId, ChannelId } from '../../../src/domain/kernel/ids.js';
import { CallsOfWorkers } from '../../../src/relay-process/workers/calls-of-workers.js';
import { until } from '../../support/until.js';

const sent: CallProgress = { attempts: [ChannelId(3)], unknownAttempts: 0, upstreamModel: null, delivered: null };
const unknown: CallProgress = { ...sent, attempts: [] };

function noting() {
  const calls = new CallsOfWorkers();
  const state = { to: -1, notes: new Map<CallId, CallProgress>(), refuse: false, refused: 0 };
  const stop = calls.startNoting(
    {
      async note(to, progressed, ended) {
        if (state.refuse) throw new Error('not now');
        state.to = Number(to);
        for (const { callId, progress } of progressed) state.notes.set(callId, progress);
        for (const callId of ended) state.notes.delete(callId);
      },
    },
    () => state.refused++,
  );
  return { calls, state, stop };
}

const reserve = (worker: ReturnType<CallsOfWorkers['enter']>, call: string, position: number): CallId => {
  const callId = CallId(call);
  worker.begin(callId);
  worker.announce(callId);
  worker.reserved(callId, Position(position));
  return callId;
};

test('the primary reports the position up to which all workers are complete; a worker without calls delays none', async () => {
  const { calls, state, stop } = noting();
  const [one, other] = [calls.enter(), calls.enter()];
  calls.enter();
  reserve(one, 'a', 5);
  reserve(one, 'b', 10);
  reserve(other, 'c', 20);
  other.note(1, []);
  one.note(1, []);
  await until(async () => (state.to === 5 ? true : null));
  one.note(2, []);
  await until(async () => (state.to === 20 ? true : null));
  await stop();
});

test('a call without a position in the log delays none: it will come after all that have one', async () => {
  const { calls, state, stop } = noting();
  const worker = calls.enter();
  const late = CallId('late');
  worker.begin(late);
  reserve(worker, 'a', 10);
  worker.announce(late);
  worker.note(1, []);
  await until(async () => (state.to === 10 ? true : null));
  worker.reserved(late, Position(12));
  reserve(worker, 'b', 14);
  worker.note(1, []);
  await until(async () => (state.to === 10 ? true : null));
  worker.note(3, []);
  await until(async () => (state.to === 14 ? true : null));
  await stop();
});

test('a call that has ended leaves no note, also when its worker reports on it later', async () => {
  const { calls, state, stop } = noting();
  const worker = calls.enter();
  const [a, b] = [reserve(worker, 'a', 1), reserve(worker, 'b', 2)];
  worker.note(2, [{ callId: a, progress: sent }]);
  await until(async () => (state.notes.has(a) ? true : null));
  worker.end(a);
  worker.end(b);
  worker.note(2, [
    { callId: a, progress: sent },
    { callId: b, progress: sent },
  ]);
  expect([calls.has(a), calls.has(b)]).toEqual([false, false]);
  await stop();
  expect([...state.notes]).toEqual([]);
});

test('for a lost worker, calls without any report may have cost an attempt; the others have not', async () => {
  const { calls, state, stop } = noting();
  const worker = calls.enter();
  const [noted, notSent, late] = [reserve(worker, 'a', 1), reserve(worker, 'b', 2), reserve(worker, 'c', 3)];
  const reserving = CallId('d');
  worker.begin(reserving);
  worker.note(2, [{ callId: noted, progress: sent }]);
  worker.leave();
  for (const callId of [noted, notSent, late, reserving]) worker.lose(callId);
  await stop();
  expect(state.to).toBeGreaterThanOrEqual(-1);
  expect(state.notes).toEqual(
    new Map([
      [noted, sent],
      [late, unknown],
      [reserving, unknown],
    ]),
  );
});

test('a note that could not be written is written as soon as possible, in its newest form', async () => {
  const { calls, state, stop } = noting();
  const worker = calls.enter();
  const [a, b] = [reserve(worker, 'a', 1), reserve(worker, 'b', 2)];
  state.refuse = true;
  worker.note(2, [
    { callId: a, progress: unknown },
    { callId: b, progress: sent },
  ]);
  await until(async () => (state.refused > 0 ? true : null));
  worker.note(2, [{ callId: a, progress: sent }]);
  worker.end(b);
  state.refuse = false;
  await stop();
  expect(state.notes).toEqual(new Map([[a, sent]]));
  expect(state.to).toBe(2);
});
