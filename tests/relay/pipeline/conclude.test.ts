import { describe, expect, test } from 'vitest';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import type { AnsweredCall, ReservedCall } from '../../../src/relay/pipeline/call-context.js';
import {
  concludeCall,
  concludeFaulted,
  concludeUnanswered,
  whileReserved,
} from '../../../src/relay/pipeline/conclude.js';
import { ComparedMessages } from '../../../src/relay/pipeline/kept/compared-messages.js';
import {
  generatedText,
  givenAnswered,
  givenReserved,
  unanswered,
  upstreamFailure,
  wholeAnswer,
} from '../../support/given/call-contexts.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';

function given() {
  const warned: string[] = [];
  const clock = settableClock(someInstant);
  const log = { info() {}, error() {}, warn: (_: unknown, message: string) => void warned.push(message) };
  return { ports: { clock, log, comparedMessages: new ComparedMessages() }, clock, warned };
}

const bytes = Buffer.from('{}');
const whole = (outcome: 'completed' | 'caller-left') =>
  ({ kind: 'answer', answer: wholeAnswer(bytes), outcome, firstTokenMs: null }) as const;

const streamed = (cutShort: boolean) => {
  const generated = generatedText('one two three four five six');
  const decoder = { usage: null, generated, closing: () => Buffer.alloc(0) };
  return {
    ...{ kind: 'stream', reading: { decoder }, outcome: 'completed', firstTokenMs: 5 },
    ...{ error: null, begun: true, cutShort, silence: null },
  } as unknown as Extract<Parameters<typeof concludeCall>[1]['delivery'], { kind: 'stream' }>;
};

describe('an answered call is concluded', () => {
  test('with a settlement that can be withdrawn as long as the caller has received nothing', async () => {
    const { ports } = given();
    const call = givenAnswered(wholeAnswer(bytes));
    const concluded = await concludeCall(ports, { ...call, delivery: whole('completed') });
    expect(concluded).toMatchObject({
      charged: 5,
      finalUsage: { usage: { input: 3, output: 2 }, usageSource: 'upstream' },
    });
    expect(call.reservation.concluded).toEqual([
      {
        ...{ usage: { input: 3, output: 2 }, usageSource: 'upstream', outcome: 'completed', channelId: 1 },
        ...{ attempts: [1], failedAttempts: undefined, upstreamModel: null, reasoningEffort: null },
        ...{ useTimeMs: 0, firstTokenMs: null, unknownAttempts: 0, serviceTier: 'default' },
      },
    ]);
  });

  test('without a known charge when the log does not answer', async () => {
    for (const delivery of [whole('completed'), whole('caller-left'), streamed(false)]) {
      const { ports } = given();
      const call = givenAnswered(wholeAnswer(bytes));
      call.reservation.away = true;
      expect((await concludeCall(ports, { ...call, delivery })).charged).toBe(null);
      expect(call.reservation.concluded).toHaveLength(1);
    }
  });

  test('by the usage that the upstream reports, unless it exceeds the usage bound', async () => {
    const { ports, warned } = given();
    const call = givenAnswered(wholeAnswer(bytes));
    const answer = { ...wholeAnswer(bytes), usage: { input: 3, output: 5000 } };
    const delivery = { ...whole('completed'), answer };
    const { finalUsage } = await concludeCall(ports, { ...call, delivery });
    expect(finalUsage.usageSource).toBe('disbelieved');
    expect(call.reservation.concluded).toMatchObject([{ claimed: { input: 3, output: 5000 } }]);
    expect(warned).toEqual([expect.stringContaining('more usage than the call can have')]);
  });

  test('by what the caller received of a stream that was cut off', async () => {
    const { ports } = given();
    const call = givenAnswered(wholeAnswer(bytes));
    const { finalUsage } = await concludeCall(ports, { ...call, delivery: streamed(true) });
    expect(finalUsage.usageSource).toBe('estimated');
    expect(finalUsage.usage.output ?? 0).toBeGreaterThan(0);
  });
});

describe('a call without an answer is concluded', () => {
  test('with a release that records the upstream’s error', async () => {
    const { ports } = given();
    const call = givenReserved();
    await concludeUnanswered(ports, { ...call, ...unanswered(upstreamFailure()) });
    expect(call.reservation.concluded).toEqual([
      {
        ...{ kind: 'upstream-failed', status: 502, code: 'bad_gateway', attempts: [1], failedAttempts: undefined },
        ...{ useTimeMs: 0, unknownAttempts: 0 },
      },
    ]);
  });

  test.each([
    ['before any upstream was tried', null, []],
    ['while an upstream failed', upstreamFailure(), [1]],
  ])('with a release without a reply, when its caller has disconnected %s', async (_when, failure, attempts) => {
    const { ports } = given();
    const call = givenReserved();
    call.connection.disconnect();
    await concludeUnanswered(ports, { ...call, ...unanswered(failure) });
    expect(call.reservation.concluded).toMatchObject([{ kind: 'caller-left', attempts }]);
  });

  test('with a settlement, when the attempt was aborted because its caller had disconnected', async () => {
    const { ports } = given();
    const call = givenReserved();
    call.connection.disconnect();
    const abandoned = { upstreamModel: 'other', reasoningEffort: null, thinking: 'refused' } as const;
    await concludeUnanswered(ports, { ...call, ...unanswered({ ...upstreamFailure(), abandoned }) });
    expect(call.reservation.concluded).toMatchObject([
      { outcome: 'caller-left', channelId: 1, upstreamModel: 'other', usage: { input: 3 } },
    ]);
  });

  test('with every picture that it has ordered, when its caller left before any of them came', async () => {
    const { ports } = given();
    const { estimate } = givenReserved().resolution;
    const drawn = { ...estimate, pictureTokens: 70, answers: 1 };
    const call = givenReserved({ resolution: { estimate: drawn } });
    call.connection.disconnect();
    const abandoned = { upstreamModel: 'm', reasoningEffort: null, thinking: 'refused' } as const;
    await concludeUnanswered(ports, { ...call, ...unanswered({ ...upstreamFailure(), abandoned }) });
    expect(call.reservation.concluded).toMatchObject([
      { outcome: 'caller-left', usage: { input: 3, imageOutput: 70, images: 1 }, usageSource: 'estimated' },
    ]);
  });

  test('with the usage that the upstream may charge for, when an internal error has ended it', async () => {
    const { ports } = given();
    const call = givenReserved();
    call.reservation.inFlightCall.unknownAttempts = 1;
    call.reservation.inFlightCall.sending = { started: true };
    await concludeFaulted(ports, call);
    expect(call.reservation.concluded).toEqual([{ kind: 'internal', useTimeMs: 0, unknownAttempts: 2 }]);
  });
});

describe('a reserved call', () => {
  test('is left to crash recovery by work that throws, and by work that ends', async () => {
    const call = givenReserved();
    const mistake = new TypeError('a mistake of ours');
    await expect(whileReserved(call, () => Promise.reject(mistake))).rejects.toBe(mistake);
    expect(call.reservation.left).toBe(1);
    expect(await whileReserved<ReservedCall>(call, async () => null)).toBe(null);
    expect(call.reservation.left).toBe(2);
  });

  test('is not left to crash recovery by work that hands it on', async () => {
    const call = givenReserved();
    const answered: AnsweredCall = {
      ...givenAnswered(wholeAnswer(bytes)),
      course: { tried: [ChannelId(1)], failed: undefined, unknownAttempts: 0 },
    };
    expect(await whileReserved(call, async () => answered)).toBe(answered);
    expect(call.reservation.left).toBe(0);
  });
});
