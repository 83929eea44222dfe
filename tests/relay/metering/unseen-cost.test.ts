import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { completionTokens } from '../../../src/domain/call/usage.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { factsOf } from '../../../src/domain/models/model-facts.js';
import { reservationOf } from '../../../src/domain/pricing/pricing.js';
import { SilentTime } from '../../../src/relay/delivery/silent-time.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { cutShort, mayThink } from '../../../src/relay/metering/unseen-cost.js';
import {
  thinkingInAnthropic,
  thinkingInGemini,
  thinkingInOpenAi,
} from '../../../src/relay/protocols/requested-thinking.js';
import { plainPrice } from '../../support/given/calls.js';

const prompt = 30;
const reported = { usage: { input: prompt }, usageSource: 'estimated' } as const;
const thinker = { thinks: true, bound: { output: 32_000 }, reserved: Quota(32_030), answers: 1, price: plainPrice };
const charged = (seen: number, silentMs: number, unseen = thinker) => cutShort(reported, seen, silentMs, unseen).usage;

describe('a stream of a model with hidden thinking, cut off before its usage arrived,', () => {
  test('is charged for the maximum thinking in its silent time, at 1,000 tokens a second', () => {
    expect(charged(12, 2_000)).toMatchObject({ output: 12, reasoning: 2_000 });
  });

  test('is charged for as much of each requested answer', () => {
    expect(charged(12, 2_000, { ...thinker, answers: 3 })).toMatchObject({ output: 12, reasoning: 6_000 });
  });

  test('is charged for the whole reservation, and no more, once it has had the time for it', () => {
    expect(charged(12, 3_600_000)).toMatchObject({ output: 12, reasoning: 31_988 });
    expect(completionTokens(charged(12, 3_600_000, { ...thinker, reserved: Quota(5_030) }))).toBe(5_000);
  });

  test('is charged for the visible text, however little time there was for it', () => {
    expect(charged(700, 0)).toEqual({ input: prompt, output: 700 });
  });

  test('is charged for the usage that the upstream had reported already, where that is more', () => {
    const usage = { input: prompt, output: 100, reasoning: 800 };
    expect(cutShort({ usage, usageSource: 'upstream' }, 10, 1, thinker)).toEqual({ usage, usageSource: 'upstream' });
  });

  test('never costs more than its reservation or its time permits, nor less than the visible text', () => {
    const few = fc.nat(40_000);
    fc.assert(
      fc.property(few, fc.nat(100_000), fc.integer({ min: 1, max: 128 }), few, few, (seen, ms, answers, held, max) => {
        const usage = charged(seen, ms, { ...thinker, answers, reserved: Quota(held), bound: { output: max } });
        const completion = completionTokens(usage);
        expect(completion).toBeGreaterThanOrEqual(seen);
        expect(usage.reasoning ?? 0).toBe(completion - seen);
        if (completion === seen) return;
        expect(completion).toBeLessThanOrEqual(Math.min(max, seen + ms * answers));
        expect(reservationOf({ input: prompt, output: completion }, plainPrice)).toBeLessThanOrEqual(held);
      }),
    );
  });
});

test('a stream of audio, cut off, is charged for as much audio as the time permits', () => {
  const price = { ...plainPrice, ratios: { output: '4', audioOutput: '80' } };
  const speaker = { ...thinker, thinks: false, bound: { output: 32_000, audioOutput: 32_000 }, price };
  expect(charged(12, 2_000, { ...speaker, reserved: Quota(30 + 2_000 * 80) })).toEqual({
    ...{ input: prompt, output: 12, audioOutput: 1_988 },
  });
  expect(charged(12, 2_000, { ...speaker, reserved: Quota(30 + 100 * 80) }).audioOutput).toBe(88);
});

test('a stream of a model with all output visible, cut off, is charged for that output', () => {
  expect(charged(12, 60_000, { ...thinker, thinks: false })).toEqual({ input: prompt, output: 12 });
});

test('text that the gateway counted is charged up to where the caller disconnected, not up to where it was read on', () => {
  const grown = { usage: { input: prompt, output: 900 }, usageSource: 'estimated' } as const;
  expect(cutShort(grown, 40, 0, { ...thinker, thinks: false }).usage).toEqual({ input: prompt, output: 40 });
});

describe('the time for hidden thinking in a stream', () => {
  const run = (steps: (time: { now: number }, silence: SilentTime) => void) => {
    const time = { now: 0 };
    const silence = new SilentTime(
      () => time.now,
      () => 7,
    );
    steps(time, silence);
    return silence.end();
  };
  const says = (time: { now: number }, silence: SilentTime, from: number, to: number): void => {
    for (time.now = from; time.now < to; time.now += 100) silence.said(time.now);
    time.now = to;
  };

  test('is the time before its first text, and none while text arrives', () => {
    expect(run((time, silence) => says(time, silence, 1_500, 60_000))).toEqual({ seenTokens: 7, silentMs: 1_500 });
  });

  test('is all of it where no text arrived, up to when the caller disconnected: reading on adds nothing', () => {
    const silentMs = run((time, silence) => {
      time.now = 1_000;
      silence.left();
      time.now = 61_000;
      silence.said(5_000);
      time.now = 64_000;
    });
    expect(silentMs).toEqual({ seenTokens: 7, silentMs: 1_000 });
  });

  test('includes a long pause within the text, except for a pause that the gateway or its caller caused', () => {
    const paused = (kept: boolean) =>
      run((time, silence) => {
        says(time, silence, 100, 1_000);
        time.now = 9_000;
        if (kept) silence.resumed();
        says(time, silence, 9_000, 9_500);
      });
    expect(paused(true).silentMs).toBe(100);
    expect(paused(false).silentMs).toBe(100 + 8_100);
  });
});

describe('hidden thinking of a model', () => {
  test.each(['o3', 'gpt-5.2', 'gemini-3.8-flash', 'deepseek-reasoner', 'gemini-flash-latest', 'x-ai/grok-code-fast-1'])(
    'is possible by its name: %s',
    (model) => expect(factsOf(model).thinksUnasked).toBe(true),
  );

  test.each([
    'gpt-4o',
    'claude-opus-4-8',
    'grok-4-fast-non-reasoning',
    'gemini-2.5-flash-lite',
    'claude-3-5-sonnet',
    'gemini-2.0-flash',
    'grok-2',
    'gpt-35-turbo',
  ])('is impossible for %s', (model) => expect(factsOf(model).thinksUnasked).toBe(false));

  test.each([
    ['claude-opus-4-8', 'unsaid', false],
    ['claude-opus-4-8', 'refused', false],
    ['claude-opus-4-8', 'asked', true],
    ['gpt-5.2', 'unsaid', true],
    ['gpt-5.2', 'refused', false],
    ['gemini-3.8-flash', 'unsaid', true],
    ['gemini-3.8-flash', 'refused', false],
    ['gpt-4o', 'asked', true],
  ] as const)('is possible for %s, where the request has it %s: %s', (model, asked, thinks) =>
    expect(mayThink(asked, 'an-alias', model)).toBe(thinks),
  );

  test.each([
    [thinkingInOpenAi, { reasoning_effort: 'none' }, 'refused'],
    [thinkingInOpenAi, { reasoning: { effort: 'none' } }, 'refused'],
    [thinkingInOpenAi, { reasoning: { enabled: false } }, 'refused'],
    [thinkingInOpenAi, { reasoning_effort: 'low' }, 'asked'],
    [thinkingInOpenAi, { enable_thinking: true }, 'asked'],
    [thinkingInOpenAi, { extra_body: { google: { thinking_config: { thinking_budget: 9 } } } }, 'asked'],
    // Nobody says that a vendor who hides thinking knows this word: it may be passed over.
    [thinkingInOpenAi, { thinking: { type: 'disabled' } }, 'unsaid'],
    [thinkingInOpenAi, { reasoning_effort: null }, 'unsaid'],
    [thinkingInAnthropic, {}, 'unsaid'],
    [thinkingInAnthropic, { thinking: null }, 'unsaid'],
    [thinkingInAnthropic, { thinking: { type: 'disabled' } }, 'refused'],
    [thinkingInAnthropic, { thinking: { type: 'adaptive' } }, 'asked'],
    [
      thinkingInGemini,
      { generationConfig: { thinkingConfig: { thinkingBudget: 0, includeThoughts: true } } },
      'refused',
    ],
    [thinkingInGemini, { generation_config: { thinking_config: { thinking_budget: 0 } } }, 'refused'],
    [thinkingInGemini, { generationConfig: { thinkingConfig: { thinkingBudget: -1 } } }, 'asked'],
    [thinkingInGemini, { generationConfig: { thinkingConfig: { thinkingLevel: 'minimal' } } }, 'asked'],
    [thinkingInGemini, { generationConfig: {} }, 'unsaid'],
  ] as const)('is read by %o from %j as %s', (read, body, said) => expect(read(body as JsonObject)).toBe(said));
});
