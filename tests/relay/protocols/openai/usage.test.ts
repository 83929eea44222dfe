import { describe, expect, test } from 'vitest';
import {
  correctedOpenAiUsage,
  readOpenAiUsage,
  writeOpenAiUsage,
} from '../../../../src/relay/protocols/openai/usage.js';

const told = (details: Record<string, unknown>) => ({
  prompt_tokens: 1_000,
  completion_tokens: 10,
  total_tokens: 1_010,
  prompt_tokens_details: details as Record<string, number>,
});

describe('the count of cache writes that OpenAI reports', () => {
  test.each([
    ['under its own name', { cached_tokens: 100, cache_write_tokens: 300 }, { cacheWrite: 300 }],
    ['under the name that gateways used', { cached_tokens: 100, cache_creation_tokens: 300 }, { cacheWrite: 300 }],
    [
      'by lifetime',
      {
        cached_tokens: 100,
        cache_write_tokens: 300,
        cache_write_tokens_details: { ttl_30m_tokens: 100, ttl_12h_tokens: 200 },
      },
      { cacheWrite: 100, cacheWriteHour: 200 },
    ],
    [
      'with more for one lifetime than in total',
      { cached_tokens: 100, cache_write_tokens: 300, cache_write_tokens_details: { ttl_12h_tokens: 900 } },
      { cacheWriteHour: 300 },
    ],
  ])('is read %s, and is not part of plain input', (_, details, written) =>
    expect(readOpenAiUsage(told(details), false)).toEqual({ input: 600, cachedInput: 100, ...written, output: 10 }),
  );

  test('reaches callers under the name that the upstream used', () => {
    const usage = { input: 600, cachedInput: 100, cacheWrite: 200, output: 10 };
    const mended = (details: Record<string, unknown>) =>
      correctedOpenAiUsage(told(details), usage).prompt_tokens_details as unknown;
    expect(mended({ cached_tokens: 100, cache_write_tokens: 300 })).toEqual({
      cached_tokens: 100,
      cache_write_tokens: 200,
    });
    expect(mended({ cached_tokens: 100, cache_creation_tokens: 300 })).toEqual({
      cached_tokens: 100,
      cache_creation_tokens: 200,
    });
    expect(mended({ cached_tokens: 100 })).toEqual({ cached_tokens: 100, cache_write_tokens: 200 });
  });

  test('is passed on unchanged where it is what is charged, under either name', () => {
    const usage = { input: 600, cachedInput: 100, cacheWrite: 100, cacheWriteHour: 200, output: 10 };
    for (const name of ['cache_write_tokens', 'cache_creation_tokens']) {
      const given = { ...told({ cached_tokens: 100, [name]: 300 }), prompt_tokens: 1_000 };
      expect(correctedOpenAiUsage(given, usage)).toBe(given);
    }
  });

  test('has OpenAI’s name where another protocol reported it', () =>
    expect(writeOpenAiUsage({ input: 1, cacheWrite: 2 }).prompt_tokens_details).toEqual({ cache_write_tokens: 2 }));
});
