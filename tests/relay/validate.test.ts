import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/relay/json/json.js';
import { endpoints } from '../support/upstreams/endpoints.js';

const chat: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

describe('a valid request', () => {
  test.each([
    ['chat', chat],
    ['chat', { ...chat, max_tokens: 2 ** 30 - 1, n: 128, stream: true, stream_options: { include_usage: true } }],
    ['chat', { ...chat, max_tokens: null, n: null, n_predict: null, stream: null, stream_options: null }],
    ['chat', { ...chat, models: ['m'], fallbacks: [], route: 'fallback', provider: { order: ['x'] } }],
    ['completions', { model: 'm', prompt: ['a', 'b'], best_of: 2 }],
    ['embeddings', { model: 'm', input: [1, 2] }],
  ] as const)('for %s is accepted: %j', (mode, body) => {
    expect(endpoints[mode].invalid(body, null)).toBeNull();
  });
});

describe('an invalid request', () => {
  test.each([
    ['chat', { ...chat, model: '' }, 'model'],
    ['chat', { ...chat, model: 7 }, 'model'],
    ['chat', { model: 'm' }, 'messages'],
    ['chat', { ...chat, messages: [] }, 'messages'],
    ['chat', { ...chat, messages: ['hi'] }, 'messages'],
    ['chat', { ...chat, max_tokens: 2 ** 30 }, 'max_tokens'],
    ['chat', { ...chat, max_tokens: -1 }, 'max_tokens'],
    ['chat', { ...chat, max_tokens: '100' }, 'max_tokens'],
    ['chat', { ...chat, max_completion_tokens: 2 ** 30 }, 'max_completion_tokens'],
    ['chat', { ...chat, max_completion_tokens: 1.5 }, 'max_completion_tokens'],
    ['chat', { ...chat, max_tokens: 5, n_predict: 100_000 }, 'n_predict'],
    ['chat', { ...chat, n_cmpl: 8 }, 'n_cmpl'],
    ['chat', { ...chat, max_tokens: 5, auto_max_new_tokens: true }, 'auto_max_new_tokens'],
    ['completions', { model: 'm', prompt: 'x', max_tokens: 5, n_predict: -1 }, 'n_predict'],
    ['chat', { ...chat, n: -5 }, 'n'],
    ['chat', { ...chat, n: 129 }, 'n'],
    ['chat', { ...chat, models: ['m', 'dearer'] }, 'models'],
    ['chat', { ...chat, models: {} }, 'models'],
    ['chat', { ...chat, fallbacks: [{ model: 'dearer' }] }, 'fallbacks'],
    ['chat', { ...chat, stream: 'yes' }, 'stream'],
    ['chat', { ...chat, stream_options: true }, 'stream_options'],
    ['completions', { model: 'm', prompt: '' }, 'prompt'],
    ['completions', { model: 'm', prompt: 'x', best_of: 0 }, 'best_of'],
  ] as const)('for %s %j is refused for its %s', (mode, body, param) => {
    expect(endpoints[mode].invalid(body as JsonObject, null)).toMatchObject({ code: 'invalid_text_request', param });
  });

  test('for an embedding without input has a code of its own', () => {
    expect(endpoints.embeddings.invalid({ model: 'm', input: [] }, null)).toEqual({
      code: 'invalid_embedding_request',
      param: 'input',
      message: 'field input is required',
    });
  });
});
