import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/relay/json/json.js';
import { unreportedUsage } from '../../../../src/relay/protocols/openai/unreported-usage.js';
import {
  correctedOpenAiUsage,
  readOpenAiUsage,
  writeOpenAiUsage,
} from '../../../../src/relay/protocols/openai/usage.js';
import { endpoints } from '../../../support/upstreams/endpoints.js';

const reported = (details: Record<string, unknown>) => ({
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
    expect(readOpenAiUsage(reported(details), false)).toEqual({ input: 600, cachedInput: 100, ...written, output: 10 }),
  );

  const body = (member: string, ttl: string): JsonObject => {
    const control = { [member]: { mode: 'explicit', ttl } };
    if (member === 'prompt_cache_options') return control;
    return { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', ...control }] }] };
  };
  const read = (
    details: Record<string, unknown>,
    asked: JsonObject,
    wire = 'openai',
    override: JsonObject | null = null,
  ) =>
    readOpenAiUsage(
      reported(details),
      false,
      unreportedUsage({ dialect: { wire }, mode: 'chat', body: asked }, { paramOverride: override }, 'gpt-6.1-sol'),
    );
  const written = { cached_tokens: 100, cache_write_tokens: 300 };
  const members = ['prompt_cache_options', 'prompt_cache_breakpoint', 'cache_control'];

  test.each(members)('without a lifetime has the one that %s of the request sets', (member) => {
    expect(read(written, body(member, '12h'))).toMatchObject({ cacheWriteHour: 300 });
    expect(read(written, body(member, '30m'))).toMatchObject({ cacheWrite: 300 });
    expect(read(written, {}, 'openai', body(member, '12h'))).toMatchObject({ cacheWriteHour: 300 });
    // Who speaks another dialect asks for it in words that do not go to such an upstream.
    expect(read(written, body(member, '12h'), 'anthropic')).toMatchObject({ cacheWrite: 300 });
  });

  test('with lifetimes has these, whatever the request contains', () => {
    const asked = body('prompt_cache_options', '12h');
    const lifetimes = (reported: object) => ({ ...written, cache_write_tokens_details: reported });
    expect(read(lifetimes({ ttl_30m_tokens: 300 }), asked)).toMatchObject({ cacheWrite: 300 });
    expect(read(lifetimes({ ttl_30m_tokens: 200 }), asked)).toMatchObject({ cacheWrite: 200, cacheWriteHour: 100 });
    expect(read(lifetimes({ ttl_12h_tokens: 0 }), asked)).toMatchObject({ cacheWrite: 300 });
  });

  test.each(members)('is reserved for at the price of the lifetime that %s of the request sets', (member) => {
    const max = (ttl: string) => {
      const asked = { model: 'gpt-6.1-sol', ...body(member, ttl) };
      const size = { bytes: 1_000, model: 'gpt-6.1-sol', names: new Set(['gpt-6.1-sol']), upload: null };
      return endpoints.chat.demand({ body: asked, ...size }).prompt.max;
    };
    expect(max('12h').cacheWriteHour).toBeGreaterThan(0);
    expect(max('30m')).not.toHaveProperty('cacheWriteHour');
  });

  test('reaches callers under the name that the upstream used', () => {
    const usage = { input: 600, cachedInput: 100, cacheWrite: 200, output: 10 };
    const mended = (details: Record<string, unknown>) =>
      correctedOpenAiUsage(reported(details), usage).prompt_tokens_details as unknown;
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
      const given = { ...reported({ cached_tokens: 100, [name]: 300 }), prompt_tokens: 1_000 };
      expect(correctedOpenAiUsage(given, usage)).toBe(given);
    }
  });

  test('has OpenAI’s name where another protocol reported it', () =>
    expect(writeOpenAiUsage({ input: 1, cacheWrite: 2 }).prompt_tokens_details).toEqual({ cache_write_tokens: 2 }));
});
