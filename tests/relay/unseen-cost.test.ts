import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noUsage, reservationOf } from '../../src/domain/pricing.js';
import { Quota } from '../../src/domain/quota.js';
import { cutShort, mayThinkUnseen } from '../../src/relay/call/unseen-cost.js';
import { plainPrice } from '../support/calls.js';

const prompt = 30;
const told = { usage: { ...noUsage, prompt }, usageSource: 'estimated' } as const;
const thinker = { thinks: true, held: Quota(32_030), most: 32_000, answers: 1, price: plainPrice };
const charged = (seen: number, elapsedMs: number, unseen = thinker) => cutShort(told, seen, elapsedMs, unseen).usage;

describe('a stream of a model that thinks unseen, cut short before its usage came', () => {
  test('is charged for what can have been thought in the time it had, at 1,000 tokens a second', () => {
    expect(charged(12, 2_000)).toMatchObject({ completion: 2_000, reasoning: 1_988 });
  });

  test('is charged for as much of each answer that was asked for', () => {
    expect(charged(12, 2_000, { ...thinker, answers: 3 })).toMatchObject({ completion: 6_000, reasoning: 5_988 });
  });

  test('is charged for all that was held, and no more, once it has had the time for it', () => {
    expect(charged(12, 3_600_000)).toMatchObject({ completion: 32_000, reasoning: 31_988 });
    expect(charged(12, 3_600_000, { ...thinker, held: Quota(5_030) }).completion).toBe(5_000);
  });

  test('is charged for what was seen, however little time there was for it', () => {
    expect(charged(700, 0)).toMatchObject({ completion: 700, reasoning: 0 });
  });

  test('is charged for what upstream had told already, where that is more', () => {
    const usage = { ...noUsage, prompt, completion: 900, reasoning: 800 };
    expect(cutShort({ usage, usageSource: 'upstream' }, 10, 1, thinker)).toEqual({ usage, usageSource: 'upstream' });
  });

  test('never costs more than its hold or its time, nor less than was seen', () => {
    const few = fc.nat(40_000);
    fc.assert(
      fc.property(few, fc.nat(100_000), fc.integer({ min: 1, max: 128 }), few, few, (seen, ms, answers, held, most) => {
        const { completion, reasoning } = charged(seen, ms, { ...thinker, answers, held: Quota(held), most });
        expect(completion).toBeGreaterThanOrEqual(seen);
        expect(reasoning).toBe(completion - seen);
        if (completion === seen) return;
        expect(completion).toBeLessThanOrEqual(Math.min(most, ms * answers));
        expect(reservationOf(prompt, completion, plainPrice)).toBeLessThanOrEqual(held);
      }),
    );
  });
});

test('a stream of a model that shows all it says, cut short, is charged for what was seen', () => {
  expect(charged(12, 60_000, { ...thinker, thinks: false })).toMatchObject({ completion: 12, reasoning: 0 });
});

describe('a model may think unseen', () => {
  test.each(['o3', 'gpt-5.2', 'claude-opus-4-8', 'claude-fable-5', 'gemini-flash-latest', 'x-ai/grok-code-fast-1'])(
    'by its name: %s',
    (model) => expect(mayThinkUnseen([model], {})).toBe(true),
  );

  test.each(['gpt-4o', 'claude-3-5-sonnet', 'gemini-2.0-flash', 'grok-2', 'gpt-35-turbo'])('not %s', (model) =>
    expect(mayThinkUnseen([model], {})).toBe(false),
  );

  test('where the request asks for it, but not where it declines', () => {
    for (const thinking of [{ type: 'enabled' }, true, 'high']) expect(mayThinkUnseen(['m'], { thinking })).toBe(true);
    for (const thinking of [{ type: 'disabled' }, { enabled: false }, { effort: 'none' }, 'none', false, null])
      expect(mayThinkUnseen(['m'], { thinking })).toBe(false);
  });
});
