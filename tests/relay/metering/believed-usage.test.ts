import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../src/domain/call/usage.js';
import type { UsageBound } from '../../../src/domain/call/usage-bound.js';
import { chargeOf, reservationOf } from '../../../src/domain/pricing/pricing.js';
import { believedUsage, claimedUsage } from '../../../src/relay/metering/believed-usage.js';
import { readOpenAiUsage } from '../../../src/relay/protocols/openai/usage.js';
import { SeenText } from '../../../src/relay/text/seen-text.js';
import { plainPrice } from '../../support/given/calls.js';

const bound: UsageBound = { input: 1_000, output: 500 };
const said = { said: new SeenText('Every charge can be proved.'), toolCalls: 0, finishReason: 'stop' };
const judged = (reported: Usage | null, generated = said, within = bound) =>
  believedUsage(reported, generated, { bound: within, promptEstimate: 12, model: 'gpt-4o' });

describe('the usage that an upstream reports', () => {
  test('is believed as far as the call can have used as much', () => {
    expect(judged({ input: 1_000, output: 500 })).toMatchObject({
      usage: { input: 1_000, output: 500 },
      usageSource: 'upstream',
    });
  });

  test.each([
    ['a prompt longer than the request', { input: 1_001, output: 5 }, { input: 12, output: 5 }],
    ['an answer longer than its limit and than its text', { input: 10, output: 501 }, { input: 10, output: 6 }],
    ['eight thousand million million tokens', { input: 8e15, output: 1 }, { input: 12, output: 1 }],
    ['the largest integer', { input: 1, output: Number.MAX_SAFE_INTEGER }, { input: 1, output: 6 }],
    ['too much of both kinds', { input: 8e15, output: 8e15 }, { input: 12, output: 6 }],
  ])('is not believed when it is %s: the gateway counts, and the call is marked', (_lie, reported, used) => {
    expect(judged(reported)).toEqual({ usage: used, usageSource: 'disbelieved' });
  });

  test('is kept for the record where it is not believed, within bounds', () => {
    const lie = { input: 8e15, output: 1 };
    expect(claimedUsage(judged(lie), lie)).toEqual(lie);
    const hostile = { input: Number.POSITIVE_INFINITY, output: Number.NaN, seconds: -1, other: 7 } as Usage;
    expect(claimedUsage({ usageSource: 'disbelieved' }, hostile)).toEqual({ input: Number.MAX_SAFE_INTEGER });
    expect(claimedUsage(judged({ input: 10, output: 5 }), { input: 10, output: 5 })).toBeUndefined();
    expect(claimedUsage(judged(null), null)).toBeUndefined();
  });

  test('is believed for hidden thinking, though a search has made the prompt longer than the request', () => {
    const searched = { input: 8_900, cachedInput: 100, output: 10, reasoning: 470 };
    expect(judged(searched)).toEqual({
      usage: { input: 12, output: 10, reasoning: 470 },
      usageSource: 'disbelieved',
    });
  });

  test('is believed beyond the limit where the received text is as long', () => {
    const long = { ...said, said: new SeenText('word '.repeat(600)) };
    expect(judged({ input: 10, output: 600 }, long).usageSource).toBe('upstream');
  });

  test.each([[null], [{ input: 0, output: 0 }]])('is counted by the gateway where it is missing: %j', (reported) => {
    expect(judged(reported)).toMatchObject({ usage: { input: 12, output: 6 }, usageSource: 'estimated' });
  });

  describe('of less than the received text contains', () => {
    const words = 'A ledger keeps every charge beside what caused it, so that nobody has to take it on trust. ';
    const four = { ...said, said: new SeenText(words.repeat(4)) };

    test('is not believed: the text is counted, and the call is marked', () => {
      const { usage, usageSource } = judged({ input: 15, output: 20 }, four);
      expect(usageSource).toBe('disbelieved');
      expect(usage).toEqual({ input: 15, output: 81 });
    });

    test('is not believed from an upstream that stopped counting at its limit and continued writing', () => {
      const eight = { ...said, said: new SeenText('one two three four five six seven eight') };
      expect(judged({ input: 15, output: 2 }, eight, { ...bound, output: 2 })).toEqual({
        ...{ usage: { input: 15, output: 8 }, usageSource: 'disbelieved' },
      });
    });

    test('is believed where the difference is a few tokens', () =>
      expect(judged({ input: 15, output: 1 }).usageSource).toBe('upstream'));

    test('is believed where another encoding may need as few, or a tool of the provider wrote it', () => {
      expect(judged({ input: 15, output: 60 }, four).usageSource).toBe('upstream');
      const byTool = { ...four, toolsBytes: words.length * 3 };
      expect(judged({ input: 15, output: 20 }, byTool).usageSource).toBe('upstream');
    });

    test('is believed for an answer that may repeat its prompt, as far as both together fit', () => {
      const reported = { input: 70, output: 10 };
      expect(
        believedUsage(reported, four, { bound, promptEstimate: 12, model: 'gpt-4o', echoes: true }).usageSource,
      ).toBe('upstream');
      expect(believedUsage(reported, four, { bound, promptEstimate: 12, model: 'gpt-4o' }).usageSource).toBe(
        'disbelieved',
      );
    });
  });

  describe('of audio', () => {
    const sounding = { ...bound, audioInput: 300, audioOutput: 500 };
    const heard = { input: 10, audioInput: 300, output: 5, audioOutput: 200 };

    test('is believed as far as the request contained some, and requested some', () =>
      expect(judged(heard, said, sounding)).toEqual({ usage: heard, usageSource: 'upstream' }));

    test('is not believed beyond the request’s own, nor where none was requested: it costs many times as much', () => {
      expect(judged({ ...heard, audioInput: 301 }, said, sounding)).toEqual({
        usage: { input: 12, output: 5, audioOutput: 200 },
        usageSource: 'disbelieved',
      });
      expect(judged(heard)).toEqual({ usage: { input: 12, output: 6 }, usageSource: 'disbelieved' });
    });
  });

  test('never costs more than can be reserved for the call and seen of it', () => {
    const count = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(8e15, 1e308, -1, 0.5, Number.NaN), fc.string());
    const usage = fc.record(
      {
        prompt_tokens: count,
        completion_tokens: count,
        total_tokens: count,
        cached_tokens: count,
        prompt_tokens_details: fc.record({ cached_tokens: count, image_tokens: count, audio_tokens: count }),
        completion_tokens_details: fc.record({ reasoning_tokens: count, audio_tokens: count }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(usage, fc.boolean(), (reported, withTools) => {
        const read = readOpenAiUsage(JSON.parse(JSON.stringify(reported)), withTools);
        const { usage: used } = believedUsage(read, said, { bound, promptEstimate: 12, model: 'gpt-4o' });
        expect(Object.values(used).every((tokens = 0) => Number.isSafeInteger(tokens) && tokens > 0)).toBe(true);
        const max = reservationOf(bound, plainPrice);
        expect(chargeOf(used, plainPrice)).toBeLessThanOrEqual(max);
      }),
      { numRuns: 1_000 },
    );
  });
});
