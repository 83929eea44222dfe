import { expect, test } from 'vitest';
import { correctedOpenAiUsage } from '../../src/relay/protocols/openai/usage.js';

const usage = { input: 90, output: 30 };
const reported = { prompt_tokens: 90, completion_tokens: 30, total_tokens: 120 };

test.each([
  ['a text', '\ud800'],
  ['a list', []],
  ['a negative number', -1],
  ['half a token', 0.5],
  ['more than a safe integer', 1e300],
])(
  'counts that decide no charge are omitted for callers where they are %s, and the rest of the usage is kept',
  (_title, odd) => {
    const details = { accepted_prediction_tokens: odd, rejected_prediction_tokens: 4, note: 'kept' };
    const mended = { rejected_prediction_tokens: 4, note: 'kept' };
    expect(correctedOpenAiUsage({ ...reported, completion_tokens_details: details, draft_tokens: odd }, usage)).toEqual(
      {
        ...reported,
        completion_tokens_details: mended,
      },
    );
    expect(correctedOpenAiUsage({ ...reported, prompt_tokens_details: details }, usage)).toEqual({
      ...reported,
      prompt_tokens_details: mended,
    });
  },
);

test('usage with further counts, null or absent, is passed on unchanged', () => {
  const details = { accepted_prediction_tokens: 0, rejected_prediction_tokens: null };
  const whole = { ...reported, completion_tokens_details: details, queue_time: 0.2 };
  expect(correctedOpenAiUsage(whole, usage)).toBe(whole);
});
