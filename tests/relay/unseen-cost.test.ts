import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reservationOf } from '../../src/domain/pricing.js';
import { Quota } from '../../src/domain/quota.js';
import { completionTokens } from '../../src/domain/usage.js';
import { asksForThinking, cutShort, thinksUnasked } from '../../src/relay/call/unseen-cost.js';
import { plainPrice } from '../support/calls.js';

const prompt = 30;
const told = { usage: { input: prompt }, usageSource: 'estimated' } as const;
const thinker = { thinks: true, speaks: false, held: Quota(32_030), most: 32_000, answers: 1, price: plainPrice };
const charged = (seen: number, elapsedMs: number, unseen = thinker) => cutShort(told, seen, elapsedMs, unseen).usage;

describe('a stream of a model that thinks unseen, cut short before its usage came', () => {
  test('is charged for what can have been thought in the time it had, at 1,000 tokens a second', () => {
    expect(charged(12, 2_000)).toMatchObject({ output: 12, reasoning: 1_988 });
  });

  test('is charged for as much of each answer that was asked for', () => {
    expect(charged(12, 2_000, { ...thinker, answers: 3 })).toMatchObject({ output: 12, reasoning: 5_988 });
  });

  test('is charged for all that was held, and no more, once it has had the time for it', () => {
    expect(charged(12, 3_600_000)).toMatchObject({ output: 12, reasoning: 31_988 });
    expect(completionTokens(charged(12, 3_600_000, { ...thinker, held: Quota(5_030) }))).toBe(5_000);
  });

  test('is charged for what was seen, however little time there was for it', () => {
    expect(charged(700, 0)).toEqual({ input: prompt, output: 700 });
  });

  test('is charged for what upstream had told already, where that is more', () => {
    const usage = { input: prompt, output: 100, reasoning: 800 };
    expect(cutShort({ usage, usageSource: 'upstream' }, 10, 1, thinker)).toEqual({ usage, usageSource: 'upstream' });
  });

  test('never costs more than its hold or its time, nor less than was seen', () => {
    const few = fc.nat(40_000);
    fc.assert(
      fc.property(few, fc.nat(100_000), fc.integer({ min: 1, max: 128 }), few, few, (seen, ms, answers, held, most) => {
        const usage = charged(seen, ms, { ...thinker, answers, held: Quota(held), most });
        const completion = completionTokens(usage);
        expect(completion).toBeGreaterThanOrEqual(seen);
        expect(usage.reasoning ?? 0).toBe(completion - seen);
        if (completion === seen) return;
        expect(completion).toBeLessThanOrEqual(Math.min(most, ms * answers));
        expect(reservationOf({ input: prompt, output: completion }, plainPrice)).toBeLessThanOrEqual(held);
      }),
    );
  });
});

test('a stream of sound, cut short, is charged for as much sound as there can have been in the time', () => {
  const price = { ...plainPrice, ratios: { output: '4', audioOutput: '80' } };
  const speaker = { ...thinker, thinks: false, speaks: true, price };
  expect(charged(12, 2_000, { ...speaker, held: Quota(30 + 2_000 * 80) })).toEqual({
    ...{ input: prompt, output: 12, audioOutput: 1_988 },
  });
  expect(charged(12, 2_000, { ...speaker, held: Quota(30 + 100 * 80) }).audioOutput).toBe(88);
});

test('a stream of a model that shows all it says, cut short, is charged for what was seen', () => {
  expect(charged(12, 60_000, { ...thinker, thinks: false })).toEqual({ input: prompt, output: 12 });
});

describe('a model may think unseen', () => {
  test.each(['o3', 'gpt-5.2', 'claude-opus-4-8', 'claude-fable-5', 'gemini-flash-latest', 'x-ai/grok-code-fast-1'])(
    'by its name: %s',
    (model) => expect(thinksUnasked(model)).toBe(true),
  );

  test.each(['gpt-4o', 'claude-3-5-sonnet', 'gemini-2.0-flash', 'grok-2', 'gpt-35-turbo'])('not %s', (model) =>
    expect(thinksUnasked(model)).toBe(false),
  );

  test('where the request asks for it, but not where it declines', () => {
    for (const thinking of [{ type: 'enabled' }, true, 'high']) expect(asksForThinking({ thinking })).toBe(true);
    for (const thinking of [{ type: 'disabled' }, { enabled: false }, { effort: 'none' }, 'none', false, null])
      expect(asksForThinking({ thinking })).toBe(false);
  });
});
