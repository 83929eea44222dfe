import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chargeOf, noUsage, reservationOf, type Usage } from '../../src/domain/pricing.js';
import { believedUsage } from '../../src/relay/call/believed-usage.js';
import { readUsage } from '../../src/relay/protocols/openai-usage.js';
import { SeenText } from '../../src/relay/seen-text.js';
import { plainPrice } from '../support/calls.js';

const bound = { prompt: 1_000, output: 500 };
const said = { said: new SeenText('Every charge can be proved.'), toolCalls: 0, finishReason: 'stop' };
const judged = (told: Partial<Usage> | null, generated = said) =>
  believedUsage(told && { ...noUsage, ...told }, generated, bound, 12, 'gpt-4o');

describe('usage an upstream tells', () => {
  test('is believed as far as the call can have used as much', () => {
    expect(judged({ prompt: 1_000, completion: 500 })).toMatchObject({
      usage: { prompt: 1_000, completion: 500 },
      usageSource: 'upstream',
    });
  });

  test.each([
    ['a prompt longer than what was sent', { prompt: 1_001, completion: 5 }, { prompt: 12, completion: 5 }],
    [
      'an answer longer than its limit and than what came',
      { prompt: 10, completion: 501 },
      { prompt: 10, completion: 6 },
    ],
    ['eight thousand million million tokens', { prompt: 8e15, completion: 1 }, { prompt: 12, completion: 1 }],
    ['the largest integer', { prompt: 1, completion: Number.MAX_SAFE_INTEGER }, { prompt: 1, completion: 6 }],
    ['too much of both', { prompt: 8e15, completion: 8e15 }, { prompt: 12, completion: 6 }],
  ])('is not believed when it tells %s: that is counted here, and the call marked', (_lie, told, used) => {
    expect(judged(told)).toEqual({ usage: { ...noUsage, ...used }, usageSource: 'disbelieved' });
  });

  test('is believed of hidden thinking, though a search has made the prompt longer than what was sent', () => {
    const searched = { prompt: 9_000, cached: 100, completion: 480, reasoning: 470 };
    expect(judged(searched)).toEqual({
      usage: { ...noUsage, prompt: 12, completion: 480, reasoning: 470 },
      usageSource: 'disbelieved',
    });
  });

  test('is believed beyond the limit where the text that came is as long', () => {
    const long = { ...said, said: new SeenText('word '.repeat(600)) };
    expect(judged({ prompt: 10, completion: 600 }, long).usageSource).toBe('upstream');
  });

  test.each([[null], [{ prompt: 0, completion: 0 }]])('is counted here where it is missing: %j', (told) => {
    expect(judged(told)).toMatchObject({ usage: { prompt: 12, completion: 6 }, usageSource: 'estimated' });
  });

  test('whatever it is, costs no more than what can be held for the call and what can be seen of it', () => {
    const count = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(8e15, 1e308, -1, 0.5, Number.NaN), fc.string());
    const usage = fc.record(
      {
        prompt_tokens: count,
        completion_tokens: count,
        total_tokens: count,
        cached_tokens: count,
        prompt_tokens_details: fc.record({ cached_tokens: count, image_tokens: count }),
        completion_tokens_details: fc.record({ reasoning_tokens: count }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(usage, fc.boolean(), (told, beside) => {
        const read = readUsage(JSON.parse(JSON.stringify(told)), beside);
        const { usage: used } = believedUsage(read, said, bound, 12, 'gpt-4o');
        expect(Object.values(used).every((tokens) => Number.isSafeInteger(tokens) && tokens >= 0)).toBe(true);
        const most = reservationOf(bound.prompt, bound.output, plainPrice);
        expect(chargeOf(used, plainPrice)).toBeLessThanOrEqual(most);
      }),
      { numRuns: 1_000 },
    );
  });
});
