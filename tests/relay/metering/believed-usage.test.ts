import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../src/domain/call/usage.js';
import type { UsageBound } from '../../../src/domain/call/usage-bound.js';
import { chargeOf, reservationOf } from '../../../src/domain/pricing/pricing.js';
import { believedUsage } from '../../../src/relay/metering/believed-usage.js';
import { readOpenAiUsage } from '../../../src/relay/protocols/openai/usage.js';
import { SeenText } from '../../../src/relay/text/seen-text.js';
import { plainPrice } from '../../support/given/calls.js';

const bound: UsageBound = { input: 1_000, output: 500 };
const said = { said: new SeenText('Every charge can be proved.'), toolCalls: 0, finishReason: 'stop' };
const judged = (told: Usage | null, generated = said, within = bound) =>
  believedUsage(told, generated, { bound: within, promptEstimate: 12, model: 'gpt-4o' });

describe('usage an upstream tells', () => {
  test('is believed as far as the call can have used as much', () => {
    expect(judged({ input: 1_000, output: 500 })).toMatchObject({
      usage: { input: 1_000, output: 500 },
      usageSource: 'upstream',
    });
  });

  test.each([
    ['a prompt longer than what was sent', { input: 1_001, output: 5 }, { input: 12, output: 5 }],
    ['an answer longer than its limit and than what came', { input: 10, output: 501 }, { input: 10, output: 6 }],
    ['eight thousand million million tokens', { input: 8e15, output: 1 }, { input: 12, output: 1 }],
    ['the largest integer', { input: 1, output: Number.MAX_SAFE_INTEGER }, { input: 1, output: 6 }],
    ['too much of both', { input: 8e15, output: 8e15 }, { input: 12, output: 6 }],
  ])('is not believed when it tells %s: that is counted here, and the call marked', (_lie, told, used) => {
    expect(judged(told)).toEqual({ usage: used, usageSource: 'disbelieved' });
  });

  test('is believed of hidden thinking, though a search has made the prompt longer than what was sent', () => {
    const searched = { input: 8_900, cachedInput: 100, output: 10, reasoning: 470 };
    expect(judged(searched)).toEqual({
      usage: { input: 12, output: 10, reasoning: 470 },
      usageSource: 'disbelieved',
    });
  });

  test('is believed beyond the limit where the text that came is as long', () => {
    const long = { ...said, said: new SeenText('word '.repeat(600)) };
    expect(judged({ input: 10, output: 600 }, long).usageSource).toBe('upstream');
  });

  test.each([[null], [{ input: 0, output: 0 }]])('is counted here where it is missing: %j', (told) => {
    expect(judged(told)).toMatchObject({ usage: { input: 12, output: 6 }, usageSource: 'estimated' });
  });

  describe('of less than the text that came holds', () => {
    const words = 'A ledger keeps every charge beside what caused it, so that nobody has to take it on trust. ';
    const four = { ...said, said: new SeenText(words.repeat(4)) };

    test('is not believed: the text counts, and the call is marked', () => {
      const { usage, usageSource } = judged({ input: 15, output: 20 }, four);
      expect(usageSource).toBe('disbelieved');
      expect(usage).toEqual({ input: 15, output: 81 });
    });

    test('is not believed of an upstream that stopped counting at its limit and did not stop writing', () => {
      const eight = { ...said, said: new SeenText('one two three four five six seven eight') };
      expect(judged({ input: 15, output: 2 }, eight, { ...bound, output: 2 })).toEqual({
        ...{ usage: { input: 15, output: 8 }, usageSource: 'disbelieved' },
      });
    });

    test('is believed where a few tokens make the difference', () =>
      expect(judged({ input: 15, output: 1 }).usageSource).toBe('upstream'));

    test('is believed where another encoding may be as thrifty, or a tool of the provider wrote it', () => {
      expect(judged({ input: 15, output: 60 }, four).usageSource).toBe('upstream');
      const byTool = { ...four, toolsBytes: words.length * 3 };
      expect(judged({ input: 15, output: 20 }, byTool).usageSource).toBe('upstream');
    });

    test('is believed of an answer that may repeat its prompt, as far as prompt and answer go together', () => {
      const told = { input: 70, output: 10 };
      expect(believedUsage(told, four, { bound, promptEstimate: 12, model: 'gpt-4o', echoes: true }).usageSource).toBe(
        'upstream',
      );
      expect(believedUsage(told, four, { bound, promptEstimate: 12, model: 'gpt-4o' }).usageSource).toBe('disbelieved');
    });
  });

  describe('of sound', () => {
    const sounding = { ...bound, audioInput: 300, audioOutput: 500 };
    const heard = { input: 10, audioInput: 300, output: 5, audioOutput: 200 };

    test('is believed as far as the request brought some, and asked for some', () =>
      expect(judged(heard, said, sounding)).toEqual({ usage: heard, usageSource: 'upstream' }));

    test('is not believed beyond what came with the request, nor where none was asked for: it costs many times as much', () => {
      expect(judged({ ...heard, audioInput: 301 }, said, sounding)).toEqual({
        usage: { input: 12, output: 5, audioOutput: 200 },
        usageSource: 'disbelieved',
      });
      expect(judged(heard)).toEqual({ usage: { input: 12, output: 6 }, usageSource: 'disbelieved' });
    });
  });

  test('whatever it is, costs no more than what can be held for the call and what can be seen of it', () => {
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
      fc.property(usage, fc.boolean(), (told, beside) => {
        const read = readOpenAiUsage(JSON.parse(JSON.stringify(told)), beside);
        const { usage: used } = believedUsage(read, said, { bound, promptEstimate: 12, model: 'gpt-4o' });
        expect(Object.values(used).every((tokens = 0) => Number.isSafeInteger(tokens) && tokens > 0)).toBe(true);
        const most = reservationOf(bound, plainPrice);
        expect(chargeOf(used, plainPrice)).toBeLessThanOrEqual(most);
      }),
      { numRuns: 1_000 },
    );
  });
});
