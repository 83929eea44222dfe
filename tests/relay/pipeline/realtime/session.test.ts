import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Got } from '../../../../src/relay/answers/answer-reading.js';
import type { RelayError } from '../../../../src/relay/contracts/errors.js';
import type { CallerSide, TwoWayListener, TwoWaySession } from '../../../../src/relay/contracts/two-way.js';
import type { JsonObject } from '../../../../src/relay/json/json.js';
import { doubtMs } from '../../../../src/relay/pipeline/realtime/asked-responses.js';
import { serveSession } from '../../../../src/relay/pipeline/realtime/session.js';
import { LargeWork } from '../../../../src/relay/text/large-work.js';
import { givenAnswered, MemoryReservation } from '../../../support/given/call-contexts.js';
import { someInstant } from '../../../support/given/events.js';
import { settableClock } from '../../../support/given/fixed-clock.js';
import { begunResponse, endedResponse } from '../../../support/upstreams/realtime-upstream.js';

/* What becomes of a realtime session whose upstream does not do as upstreams do. */

type Ports = Parameters<typeof serveSession>[0];

/** One side, in memory. */
class MemorySide implements CallerSide {
  readonly full = false;
  readonly sent: JsonObject[] = [];
  readonly told: RelayError[] = [];
  code: number | null = null;
  private listener: TwoWayListener | null = null;

  listen(listener: TwoWayListener): void {
    this.listener = listener;
  }
  send(text: Buffer | string): void {
    this.sent.push(JSON.parse(String(text)) as JsonObject);
  }
  tell(error: RelayError): void {
    this.told.push(error);
  }
  close(code: number): void {
    this.code = code;
  }
  ping(): boolean {
    return true;
  }
  pause(): void {}
  resume(): void {}
  terminate(): void {}

  /** The other end says something, and all of it is done that can be. */
  async says(event: JsonObject): Promise<void> {
    this.listener?.message(Buffer.from(JSON.stringify(event)), false);
    await rest();
  }
  async breaks(): Promise<void> {
    this.listener?.closed(null);
    await rest();
  }
}

const rest = () => new Promise((resolve) => setImmediate(resolve));
const streamIdleMs = 60_000;

async function openSession() {
  const [upstream, caller] = [new MemorySide(), new MemorySide()];
  const reservations: MemoryReservation[] = [];
  const reserve = async () => {
    const reservation = new MemoryReservation();
    reservations.push(reservation);
    return { ok: true, reservation };
  };
  const settings = () => ({ upstreamPromptTokens: 0, sensitiveWords: [] });
  const ports = {
    ...{ clock: settableClock(someInstant), meter: { reserve }, directory: { settings } },
    ...{ log: { warn() {}, error() {} }, largeWork: new LargeWork() },
    config: { callerStallMs: 600_000, streamIdleMs },
  } as unknown as Ports;
  const failureIn = () => ({ status: 400, message: 'no', type: 't', code: 'c', param: '', retryAfter: null });
  const conversation: Extract<Got, { kind: 'conversation' }> = { kind: 'conversation', socket: upstream, failureIn };
  const call = givenAnswered(conversation, { apiKey: null });
  reservations.push(call.reservation);
  let session = null as TwoWaySession | null;
  const open = (opened: TwoWaySession) => {
    session = opened;
    return caller;
  };
  Object.assign(call.connection, { twoWay: { open } });
  const ended = serveSession(ports, call, conversation);
  await rest();
  if (session === null) throw new Error('the session did not open');
  /** Outcomes and usage of what has been concluded. */
  const concluded = () => reservations.flatMap((one) => one.concluded);
  return { upstream, caller, session: session as TwoWaySession, ended, concluded };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] }));
afterEach(() => void vi.useRealTimers());

const words = (id: string): JsonObject => ({
  type: 'response.output_text.delta',
  response_id: id,
  delta: 'and so on ',
});
/** A second of sound: 20 tokens. */
const second = (id: string): JsonObject => ({
  ...{ type: 'response.output_audio.delta', response_id: id, delta: 'A'.repeat(64_000) },
});

describe('a response that does not end', () => {
  test('is given up when nothing comes of it, and charged by what was seen', async () => {
    const { upstream, caller, session, ended, concluded } = await openSession();
    await upstream.says(begunResponse('a'));
    await upstream.says(words('a'));
    vi.advanceTimersByTime(streamIdleMs - 1);
    session.look(false);
    expect(session.busy).toBe(true);
    vi.advanceTimersByTime(2);
    session.look(false);
    expect(await ended).toBe(false);
    expect(caller.told).toMatchObject([{ code: 'do_request_failed' }]);
    expect(concluded()).toMatchObject([{ outcome: 'upstream-broke', usage: { output: expect.any(Number) } }]);
  });

  test('holds up the end of its session for a minute, is cancelled, and charged by what was seen', async () => {
    const { upstream, caller, session, ended, concluded } = await openSession();
    await upstream.says(begunResponse('a'));
    session.end(1001, 'the gateway is stopping');
    for (let second = 0; second < 60; second += 10) {
      await upstream.says(words('a'));
      session.look(false);
      expect(upstream.sent).toEqual([]);
      vi.advanceTimersByTime(10_000);
    }
    vi.advanceTimersByTime(1);
    session.look(false);
    expect(upstream.sent).toEqual([{ type: 'response.cancel' }]);
    vi.advanceTimersByTime(3_000);
    expect(await ended).toBe(true);
    expect(caller.code).toBe(1001);
    expect(concluded()).toMatchObject([{ outcome: 'completed', usage: { output: expect.any(Number) } }]);
  });
});

test('each of several responses at once is charged for what it has put out, whichever of them has ended', async () => {
  const { upstream, ended, concluded } = await openSession();
  for (const id of ['a', 'b', 'c']) await upstream.says(begunResponse(id));
  for (const id of ['a', 'b', 'b', 'c']) await upstream.says(second(id));
  await upstream.says(words('c'));
  await upstream.says(endedResponse('a', null));
  await upstream.breaks();
  expect(await ended).toBe(false);
  expect(concluded()).toMatchObject([
    { outcome: 'completed', usage: { audioOutput: 20 } },
    { outcome: 'upstream-broke', usage: { audioOutput: 40 } },
    { outcome: 'upstream-broke', usage: { audioOutput: 20, output: expect.any(Number) } },
  ]);
});

describe('a failure that an upstream reports while a response is waited for', () => {
  const failure = (event_id?: string | null): JsonObject => ({ type: 'error', error: { message: 'no', event_id } });
  const asking = async (event_id?: string) => {
    const opened = await openSession();
    await opened.caller.says({ type: 'response.create', event_id });
    return { ...opened, sent: String(opened.upstream.sent[0]?.event_id) };
  };

  test('is the refusal of the response where it names its event, and is shown by the client’s own name', async () => {
    const { upstream, caller, session, sent } = await asking('mine');
    expect(sent).not.toBe('mine');
    await upstream.says(failure('mine'));
    expect(session.busy).toBe(true);
    await upstream.says(failure(sent));
    expect(session.busy).toBe(false);
    expect(caller.sent.map(({ error }) => (error as JsonObject).event_id)).toEqual(['mine', 'mine']);
  });

  test('names no event where its client has named none', async () => {
    const { upstream, caller, session, sent } = await asking();
    await upstream.says(failure(sent));
    expect(session.busy).toBe(false);
    expect(JSON.stringify(caller.sent)).not.toContain('event_id');
  });

  test.each([undefined, null, ''])(
    'and which is of event %j leaves the reservation until nothing has come of it for long',
    async (id) => {
      const { upstream, session } = await asking();
      await upstream.says(failure(id as never));
      vi.advanceTimersByTime(doubtMs - 1);
      session.look(false);
      expect(session.busy).toBe(true);
      vi.advanceTimersByTime(1);
      session.look(false);
      expect(session.busy).toBe(false);
    },
  );

  test('refuses an id that no upstream takes', async () => {
    const { caller, upstream } = await openSession();
    for (const event_id of [7, {}, 'x'.repeat(513)]) await caller.says({ type: 'response.create', event_id });
    expect(caller.told.map(({ param }) => param)).toEqual(['event_id', 'event_id', 'event_id']);
    expect(upstream.sent).toEqual([]);
  });
});
