import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { undoubled } from '../../../src/relay/protocols/model-address.js';
import type { ProviderQueries } from '../../../src/relay/protocols/provider-queries.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from './golden.js';

/* What operators write into a channel: bases copied from elsewhere, and names of models of other makers. */

describe('a base URL that ends with the version of the path below it', () => {
  test.each([
    ['https://a.example/v1', '/v1/chat/completions', 'https://a.example/v1/chat/completions'],
    [
      'https://a.example/v1beta',
      '/v1beta/models/m:generateContent',
      'https://a.example/v1beta/models/m:generateContent',
    ],
    ['https://a.example/api/v1', '/v1/models?limit=1', 'https://a.example/api/v1/models?limit=1'],
    [
      'https://a.example/compatible-mode/v1',
      '/compatible-mode/v1/embeddings',
      'https://a.example/compatible-mode/v1/embeddings',
    ],
  ])('is not doubled in the address: %s', (base, path, url) => expect(undoubled(base, base + path)).toBe(url));

  test.each([
    ['https://a.example/v1', '/chat/completions'],
    ['https://a.example/v1', '/v1beta/models'],
    ['https://a.example/v2', '/v1/models'],
    ['https://a.example/base', '/base/models'],
    ['https://v1', '/v1/models'],
    ['https://a.example/v1/chat/completions', ''],
  ])('is kept where nothing is doubled: %s%s', (base, path) => expect(undoubled(base, base + path)).toBe(base + path));
});

describe('a custom channel without the address of an endpoint', () => {
  const custom = providerOfType(8);

  test.each(['https://a.example', 'https://a.example/', 'https://a.example/v1'])(
    'is not queried for models, and a test that finds nothing says what is missing: %s',
    (baseUrl) => {
      const queries = { base: baseUrl.replace(/\/$/, '') } as ProviderQueries;
      expect(() => custom.models?.(queries)).toThrow(/whole address/);
      expect(custom.baseHint?.(baseUrl)).toMatch(/whole address/);
    },
  );

  test.each(['https://a.example/v1/chat/completions', 'https://a.example/chat'])(
    'cannot serve the endpoint: %s',
    (baseUrl) => expect(custom.baseHint?.(baseUrl)).toBeNull(),
  );
});

describe('a conversation converted to Anthropic’s protocol', () => {
  const claude = providerOfType(14);
  const sent = (model: string): JsonObject => {
    const body = {
      model,
      messages: [{ role: 'user', content: 'x' }],
      temperature: 1.5,
      top_p: 0.5,
      stop: ['\n\n', 'end'],
    };
    const request = claude.protocol.request({
      provider: claude,
      channel: plainChannel,
      caller: callerOf('chat', body),
      model,
      options: usualOptions,
    });
    return JSON.parse(wordsOf(request.content));
  };

  test('keeps temperature, top_p and blank stop sequences for models other than Claude', () => {
    for (const model of ['kimi-k2-thinking-preview', 'glm-4.6', 'deepseek-chat'])
      expect(sent(model)).toMatchObject({ temperature: 1.5, top_p: 0.5, stop_sequences: ['\n\n', 'end'] });
  });

  test('omits what Claude refuses', () => {
    expect(sent('claude-opus-5')).toMatchObject({ stop_sequences: ['end'] });
    expect(sent('claude-opus-5')).not.toHaveProperty('temperature');
    expect(sent('claude-sonnet-4-5')).toMatchObject({ temperature: 1 });
  });
});
