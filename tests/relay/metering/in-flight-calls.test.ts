import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CallProgressNotes } from '../../../src/application/ports/storage-ports.js';
import type { CallProgress } from '../../../src/domain/call/call-progress.js';
import { beginning, Position } from '../../../src/domain/events/events.js';
import { CallId, ChannelId } from '../../../src/domain/kernel/ids.js';
import { type InFlightCalls, inFlightCalls } from '../../../src/relay/metering/in-flight-calls.js';
import { SeenText } from '../../../src/relay/text/seen-text.js';

interface Note {
  readonly to: number;
  readonly progressed: Readonly<Record<string, CallProgress>>;
  readonly ended: readonly string[];
}

let calls: InFlightCalls;
let notes: Note[];
let refuse = false;
let stop: () => Promise<void>;
const warned: unknown[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  notes = [];
  refuse = false;
  calls = inFlightCalls();
  const taking: Pick<CallProgressNotes, 'note'> = {
    async note(to, progressed, ended) {
      if (refuse) throw new Error('the database is away');
      notes.push({
        to: Number(to),
        progressed: Object.fromEntries(progressed.map((p) => [p.callId, p.progress])),
        ended,
      });
    },
  };
  stop = calls.startNoting(taking as CallProgressNotes, (error) => warned.push(error));
});
afterEach(async () => {
  await stop();
  vi.useRealTimers();
});

const looks = (count: number) => vi.advanceTimersByTimeAsync(250 * count);
const id = CallId('c');
const sent = { attempts: [ChannelId(3)], unknownAttempts: 0, upstreamModel: null };

function callSent() {
  const call = calls.begin(id);
  call.attempts = [ChannelId(3)];
  call.sending = { started: true };
  return call;
}

describe('an in-flight call', () => {
  test('that ends within one interval leaves no note', async () => {
    callSent();
    await looks(1);
    calls.end(id);
    await looks(3);
    expect(notes).toEqual([]);
  });

  test('that has been sent upstream is noted once, and its note removed when it ends', async () => {
    callSent();
    await looks(5);
    expect(notes).toEqual([{ to: beginning, progressed: { c: { ...sent, delivered: null } }, ended: [] }]);
    calls.end(id);
    await looks(1);
    expect(notes.at(-1)).toEqual({ to: beginning, progressed: {}, ended: ['c'] });
  });

  test('that waits for a connection is not noted', async () => {
    calls.begin(id).sending = { started: false };
    await looks(5);
    expect(notes).toEqual([]);
  });

  test('keeps its note when its process has abandoned it without an outcome', async () => {
    callSent();
    await looks(2);
    calls.lose(id);
    await looks(3);
    expect(notes.flatMap(({ ended }) => ended)).toEqual([]);
    expect(calls.has(id)).toBe(false);
  });
});

test('a stream is noted again whenever it has grown by a quarter, so that the last note is never far off', async () => {
  const call = callSent();
  const generated = { said: new SeenText(), toolCalls: 0, finishReason: null };
  call.stream = { generated };
  call.firstTokenMs = 7;
  for (let look = 0; look < 100; look++) {
    generated.said.add('four');
    await looks(1);
    const noted = notes.at(-1)?.progressed.c?.delivered?.outputTokens ?? 0;
    if (look > 1) expect(noted).toBeGreaterThanOrEqual(Math.floor((look + 1) / 1.25) - 1);
    if (look > 1) expect(noted).toBeLessThanOrEqual(look + 1);
  }
  expect(notes.length).toBeLessThan(25);
});

test('in-flight calls are reported up to the position where all sent ones are noted: a second behind the newest reservation', async () => {
  calls.reserved(CallId('c'), Position(5));
  await looks(4);
  expect(notes).toEqual([]);
  await looks(1);
  expect(notes.map(({ to }) => to)).toEqual([5]);
  await looks(5);
  expect(notes).toHaveLength(1);
});

test('a note that could not be written is written as soon as possible', async () => {
  callSent();
  calls.reserved(CallId('c'), Position(5));
  refuse = true;
  await looks(6);
  expect(warned.length).toBeGreaterThan(0);
  refuse = false;
  await looks(1);
  expect(notes).toEqual([{ to: 5, progressed: { c: { ...sent, delivered: null } }, ended: [] }]);
});
