import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/domain/kernel/failure.js';
import type { UpstreamRequest } from '../../../src/relay/contracts/protocol.js';
import { imageGenerations } from '../../../src/relay/dialects/openai/endpoints/images.js';
import { attemptCall } from '../../../src/relay/pipeline/attempt.js';
import { channelParser } from '../../../src/relay/pipeline/channels/channel-settings.js';
import { ComparedMessages } from '../../../src/relay/pipeline/kept/compared-messages.js';
import { openai } from '../../../src/relay/providers/openai.js';
import { LargeWork } from '../../../src/relay/text/large-work.js';
import { Lost } from '../../../src/relay/upstream/upstream-response.js';
import { channelOf, givenReserved } from '../../support/given/call-contexts.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';

type Ports = Parameters<typeof attemptCall>[0];

const value = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const body = { value, text: JSON.stringify(value), bytes: 60, upload: null, leave: () => {} };

const answer = JSON.stringify({
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});
/** It breaks off amid the answer. */
const cut = { status: 200, text: null };
const good = { status: 200, text: answer };
const down = { status: 503, text: '{"error":{"message":"busy","type":"t","code":"busy"}}' };

interface World {
  /** What each request is answered with, in turn; the last one from then on. */
  readonly says?: readonly { readonly status: number; readonly text: string | null }[];
  readonly vault?: () => Promise<string | null>;
  /** Channels that have no place. */
  readonly full?: readonly number[];
  readonly retryTimes?: number;
}

function given({ says = [good], vault = async () => 'sk-upstream', full = [], retryTimes = 3 }: World = {}) {
  const sent: UpstreamRequest[] = [];
  /** Milliseconds of silence that each answer is allowed. */
  const patience: number[] = [];
  /** Calls under way, by channel. */
  const inside = new Map<number, number>();
  const dead: number[] = [];
  const enter = (id: number, by: number): void => void inside.set(id, (inside.get(id) ?? 0) + by);
  const ports = {
    comparedMessages: new ComparedMessages(),
    clock: settableClock(someInstant),
    directory: {
      settings: () => ({ retryTimes, autoDisable: { enabled: true, keywords: [] }, passThroughRequests: false }),
    },
    vault: { get: vault },
    upstream: {
      send(request: UpstreamRequest, { idleMs }: { readonly idleMs: number }) {
        patience.push(idleMs);
        const { status, text } = says[Math.min(sent.push(request), says.length) - 1] ?? good;
        const whole = async () => {
          if (text === null) throw new Lost('the connection broke');
          return Buffer.from(text);
        };
        const reply = { ok: true, answer: { status, headers: {}, body: { next: whole, whole } } };
        return { sent: Promise.resolve(reply), started: true, begun() {}, follow() {}, cancel() {} };
      },
    },
    limits: {
      enterChannel(id: number) {
        if (full.includes(id)) return null;
        enter(id, 1);
        return () => enter(id, -1);
      },
    },
    answers: { maxBytes: 2 ** 20 },
    largeWork: new LargeWork(),
    parsedChannel: channelParser(),
    providerOf: () => openai,
    channelHealth: { outOfOrder: (id: number) => void dead.push(id) },
    config: { streamIdleMs: 60_000, answerTimeoutMs: 600_000, callerGoneMs: 1_000 },
    log: { info() {}, warn() {}, error() {} },
  } as unknown as Ports;
  const held = () => [...inside].filter(([, calls]) => calls > 0).map(([id]) => id);
  return { ports, sent, patience, held, dead };
}

describe('the attempt stage', () => {
  test('sends no request for a caller that has disconnected', async () => {
    const { ports, sent } = given();
    const call = givenReserved();
    call.connection.disconnect();
    expect(await attemptCall(ports, call, body)).toMatchObject({ failure: null, course: { tried: [] } });
    expect(sent).toEqual([]);
  });

  test('returns the first channel that answers, and holds its concurrency slot until it is released', async () => {
    const { ports, held } = given({ says: [down, good] });
    const call = givenReserved();
    const attempted = await attemptCall(ports, call, body);
    if (attempted.answer === null) throw new Error('nobody answered');
    const { tried, failed } = attempted.course;
    expect(new Set(tried)).toEqual(new Set([1, 2]));
    expect(failed).toEqual([{ channelId: tried[0], status: 503, code: 'busy', durationMs: 0 }]);
    expect(attempted.answer.got).toMatchObject({ kind: 'answer', usage: { input: 3, output: 2 } });
    expect(call.reservation.inFlightCall.attempts).toEqual(tried);
    expect(held()).toEqual([tried[1]]);
    attempted.leaveChannel();
    expect(held()).toEqual([]);
  });

  test('ends when all permitted attempts have failed, and holds no slot', async () => {
    const { ports, sent, held } = given({ says: [down], retryTimes: 2 });
    const attempted = await attemptCall(ports, givenReserved(), body);
    expect(attempted).toMatchObject({ failure: { error: { status: 503, code: 'busy' } } });
    expect(attempted.course.tried).toHaveLength(3);
    expect([sent.length, held()]).toEqual([3, []]);
  });

  test('makes one attempt on a channel that the caller has pinned', async () => {
    const { ports, sent } = given({ says: [down] });
    await attemptCall(ports, givenReserved({ resolution: { channels: [channelOf(1)], pinned: true } }), body);
    expect(sent).toHaveLength(1);
  });

  test('skips channels without a free slot, and does not count them as attempts', async () => {
    const { ports } = given({ full: [1] });
    expect((await attemptCall(ports, givenReserved(), body)).course.tried).toEqual([2]);
    const all = await attemptCall(given({ full: [1, 2] }).ports, givenReserved(), body);
    expect(all).toMatchObject({ failure: { error: { status: 429 } }, course: { tried: [], failed: undefined } });
  });

  test('releases the slot when an internal error ends the attempt', async () => {
    const mistake = new TypeError('a mistake of ours');
    const { ports, held } = given({ vault: () => Promise.reject(mistake) });
    await expect(attemptCall(ports, givenReserved(), body)).rejects.toBe(mistake);
    expect(held()).toEqual([]);
  });

  test('reports the error of an upstream rather than that the store was unavailable for the next attempt', async () => {
    let asked = 0;
    const vault = async (): Promise<string> => {
      if (asked++ > 0) throw new Failure('store-unavailable');
      return 'sk-upstream';
    };
    const { ports, held } = given({ says: [down], vault });
    expect(await attemptCall(ports, givenReserved(), body)).toMatchObject({ failure: { error: { code: 'busy' } } });
    expect(held()).toEqual([]);
  });

  test('reports a channel that proves to be out of order', async () => {
    const unauthorised = { status: 401, text: '{"error":{"message":"no","type":"t","code":"invalid_api_key"}}' };
    const { ports, dead } = given({ says: [unauthorised], retryTimes: 0 });
    const { course } = await attemptCall(ports, givenReserved(), body);
    expect(dead).toEqual(course.tried);
  });

  test('orders a picture at no other channel when the first one may be making it', async () => {
    const order = { model: 'm', prompt: 'A boat.' };
    const drawn = { ...body, value: order, text: JSON.stringify(order) };
    const orders = async (answers: World['says'], drawing = true): Promise<number> => {
      const { ports, sent } = given({ says: answers });
      await attemptCall(ports, givenReserved(drawing ? { endpoint: imageGenerations } : {}), drawing ? drawn : body);
      return sent.length;
    };
    expect(await orders([cut])).toBe(1);
    for (const text of ['', '<html>Welcome</html>', '{"created":1}', '{"created":1,"data":[]}'])
      expect(await orders([{ status: 200, text }])).toBe(1);
    expect(await orders([{ status: 200, text: '{"error":{"message":"no room","code":"busy"}}' }])).toBeGreaterThan(1);
    expect(await orders([down, down])).toBeGreaterThan(1);
    expect(await orders([cut, good], false)).toBe(2);
  });

  test.each([
    ['is not JSON', '<html>Welcome</html>', 1],
    ['is cut JSON', '{"choices":[', 1],
    ['names no answer', '{}', 1],
    ['reports a failure', '{"error":{"message":"no room","code":"busy"}}', 0],
  ])(
    'asks another channel for text after an answer that %s, whose cost is known only where it failed',
    async (_, text, unknown) => {
      const { ports } = given({ says: [{ status: 200, text }, good] });
      const { answer, course } = await attemptCall(ports, givenReserved(), body);
      expect([answer?.ok, course.tried.length, course.unknownAttempts]).toEqual([true, 2, unknown]);
    },
  );

  test('waits for a silent stream of a picture as long as for a whole answer', async () => {
    const patienceFor = async (stream: boolean, drawing: boolean): Promise<number | undefined> => {
      const value = { model: 'm', stream, ...(drawing ? { prompt: 'A boat.' } : { messages: [] }) };
      const { ports, patience } = given({ says: [down], retryTimes: 0 });
      const call = givenReserved({ ...(drawing && { endpoint: imageGenerations }), resolution: { stream } });
      await attemptCall(ports, call, { ...body, value, text: JSON.stringify(value) });
      return patience[0];
    };
    expect(await patienceFor(true, true)).toBe(600_000);
    expect(await patienceFor(false, true)).toBe(600_000);
    expect(await patienceFor(true, false)).toBe(60_000);
  });

  test('leaves the given context unchanged', async () => {
    const { ports } = given();
    const call = givenReserved();
    const before = { ...call };
    await attemptCall(ports, call, body);
    expect(call).toEqual(before);
  });
});
