import { describe, expect, test } from 'vitest';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Got, StreamReading } from '../../../src/relay/answers/answer-reading.js';
import type { Endpoint } from '../../../src/relay/contracts/endpoint.js';
import { chat } from '../../../src/relay/dialects/openai/endpoints/chat.js';
import type { ConcludedCall, DeliveredCall } from '../../../src/relay/pipeline/call-context.js';
import { deliverCall, finishCall } from '../../../src/relay/pipeline/deliver.js';
import type { SoundReading } from '../../../src/relay/upstream/sound-answer.js';
import { generatedText, givenAnswered, wholeAnswer } from '../../support/given/call-contexts.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';

function given() {
  const inTurn: number[] = [];
  const ports = {
    clock: settableClock(someInstant),
    config: { callerGoneMs: 1000 },
    log: { info() {}, warn() {}, error() {} },
    largeWork: {
      run: (bytes: number, work: () => unknown) => {
        inTurn.push(bytes);
        return work();
      },
    },
    stalledCallers: { watch() {} },
  } as unknown as Parameters<typeof deliverCall>[0];
  return { ports, inTurn };
}

const asReported = { usage: { input: 3, output: 2 }, usageSource: 'upstream' } as const;
const concluded = (
  call: DeliveredCall,
  charged: Quota | null = Quota(5),
  finalUsage: ConcludedCall['finalUsage'] = asReported,
) => ({
  ...call,
  finalUsage,
  charged,
});

describe('a whole answer', () => {
  const text = '{"id":"c"}';

  test('is sent once it is settled, and no byte of it before', async () => {
    const { ports } = given();
    const got = wholeAnswer(Buffer.from(text));
    const call = givenAnswered(got);
    const delivered = await deliverCall(ports, call);
    expect(call.connection).toMatchObject({ begun: null, text: '', ended: false });
    expect(await finishCall(ports, concluded(delivered, Quota(5), { ...asReported, usage: got.usage ?? {} }))).toBe(
      true,
    );
    const begun = { type: 'application/json; charset=utf-8', length: text.length, headers: [] };
    expect(call.connection).toMatchObject({ begun, text, ended: true });
  });

  test('is withheld when the settlement fails', async () => {
    const { ports } = given();
    const call = givenAnswered(wholeAnswer(Buffer.from(text)));
    const delivered = await deliverCall(ports, call);
    await expect(finishCall(ports, concluded(delivered, null))).rejects.toMatchObject({ status: 503 });
    expect(call.connection).toMatchObject({ begun: null, text: '' });
  });

  test('is not sent to a caller that has disconnected', async () => {
    const { ports } = given();
    const call = givenAnswered(wholeAnswer(Buffer.from(text)));
    call.connection.disconnect();
    const delivered = await deliverCall(ports, call);
    expect(delivered.delivery.outcome).toBe('caller-left');
    await finishCall(ports, concluded(delivered, null));
    expect(call.connection.begun).toBe(null);
  });

  test('that is large and must report another usage is rewritten in the queue of other large work', async () => {
    const { ports, inTurn } = given();
    const received = Buffer.alloc(2_000_000, ' ');
    const endpoint: Endpoint = { ...chat, dialect: { ...chat.dialect, withUsage: () => Buffer.from('told') } };
    const call = givenAnswered(wholeAnswer(received), { endpoint });
    const delivered = await deliverCall(ports, call);
    await finishCall(ports, concluded(delivered, Quota(5), { usage: { input: 1 }, usageSource: 'estimated' }));
    expect(call.connection.text).toBe('told');
    expect(inTurn).toEqual([received.length]);
  });
});

describe('a stream', () => {
  const streamOf = (...pieces: string[]): Got => {
    const left = pieces.map((piece) => Buffer.from(piece));
    const decoder = {
      ...{ generated: generatedText(), usage: null, unfinished: 0, progress: 1, begun: true },
      push: (bytes: Buffer) => ({ bytes, error: null, finished: false }),
      end: () => ({ bytes: null, error: null, finished: true }),
      closing: () => Buffer.from('[closing]'),
    };
    const reading = {
      decoder,
      chunks: {
        next: async () => {
          const value = left.shift();
          return value === undefined ? { done: true, value } : { done: false, value };
        },
      },
      ...{ first: { bytes: Buffer.from('first '), finished: false }, slot: { hold: () => null } },
      ...{ cancel() {}, staysOpen: false },
    } as unknown as StreamReading;
    return { kind: 'stream', reading };
  };

  test('reaches its caller except for its end, which waits for the settlement', async () => {
    const { ports } = given();
    const call = givenAnswered(streamOf('second ', 'third '));
    const delivered = await deliverCall(ports, call);
    expect(call.connection).toMatchObject({ text: 'first second third ', ended: false });
    expect(call.connection.begun?.type).toBe('text/event-stream; charset=utf-8');
    expect(delivered.delivery).toMatchObject({ outcome: 'completed', error: null, cutShort: false });
    expect(await finishCall(ports, concluded(delivered))).toBe(true);
    expect(call.connection).toMatchObject({ text: 'first second third [closing]', ended: true });
  });

  test('ends without its end mark when the settlement is not durable', async () => {
    const { ports } = given();
    const call = givenAnswered(streamOf());
    await finishCall(ports, concluded(await deliverCall(ports, call), null));
    expect(call.connection.text).toContain('store_unavailable');
    expect(call.connection.text).not.toContain('[closing]');
    expect(call.connection.text).not.toContain('[DONE]');
  });

  test('that a heartbeat has opened is not opened again', async () => {
    const { ports } = given();
    const call = givenAnswered(streamOf());
    const heartbeat = { ...call.heartbeat, takeOver: () => true };
    await deliverCall(ports, { ...call, heartbeat });
    expect(call.connection).toMatchObject({ begun: null, text: 'first ' });
  });

  test('whose caller has disconnected ends as disconnected', async () => {
    const { ports } = given();
    const call = givenAnswered(streamOf('second '));
    call.connection.disconnect();
    expect((await deliverCall(ports, call)).delivery.outcome).toBe('caller-left');
  });
});

describe('audio', () => {
  const sound = (): Got => {
    const reading: SoundReading = {
      ...{ type: 'audio/mpeg', first: Buffer.from('la'), cancel() {} },
      chunks: { next: async () => ({ done: true, value: undefined }) },
    };
    return { kind: 'sound', reading };
  };

  test('is passed on with its content type, and ends once it is settled', async () => {
    const { ports } = given();
    const call = givenAnswered(sound());
    const delivered = await deliverCall(ports, call);
    expect(call.connection).toMatchObject({
      begun: { type: 'audio/mpeg', length: undefined },
      text: 'la',
      ended: false,
    });
    expect(await finishCall(ports, concluded(delivered))).toBe(true);
    expect(call.connection).toMatchObject({ ended: true, brokenOff: false });
  });

  test('is aborted when the settlement is not durable', async () => {
    const { ports } = given();
    const call = givenAnswered(sound());
    expect(await finishCall(ports, concluded(await deliverCall(ports, call), null))).toBe(false);
    expect(call.connection.brokenOff).toBe(true);
  });
});
