import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/* What the golden cases of Ollama's own interface do not show: operators' parameters, bases, and what is refused. */

const provider = providerOfType(4);
const messages = [{ role: 'user', content: 'hi' }];

interface Asking {
  readonly override?: JsonObject;
  readonly baseUrl?: string;
  readonly mode?: 'chat' | 'embeddings';
}

function request(body: JsonObject = {}, { override, baseUrl = '', mode = 'chat' }: Asking = {}) {
  const asked = mode === 'chat' ? { messages } : { input: 'hi' };
  return provider.protocol.request({
    provider,
    channel: { ...plainChannel, baseUrl, paramOverride: override ?? null },
    caller: { ...callerOf(mode, { model: 'qwen3:8b', ...asked, ...body }), maxOutput: 1_000 },
    model: 'qwen3:8b',
    options: usualOptions,
  });
}
const sent = (...asked: Parameters<typeof request>): JsonObject => JSON.parse(wordsOf(request(...asked).content));

describe('an operator’s parameters for Ollama', () => {
  test('are read in OpenAI’s form as if the caller had given them', () => {
    const override = {
      temperature: 0.2,
      max_tokens: 50,
      reasoning_effort: 'none',
      response_format: { type: 'json_object' },
    };
    expect(sent({ temperature: 1 }, { override })).toEqual({
      ...{ model: 'qwen3:8b', messages, stream: false, format: 'json', think: false },
      options: { temperature: 0.2, num_predict: 50 },
    });
  });

  test('are sent in Ollama’s own form as they are', () => {
    const override = { options: { num_ctx: 8192 }, keep_alive: '1h', think: 'low' };
    expect(sent({}, { override })).toMatchObject({ options: { num_ctx: 8192 }, keep_alive: '1h', think: 'low' });
  });

  test('neither raise the limit above what is reserved nor take it away', () => {
    expect(sent({ max_tokens: 70 }, { override: { max_tokens: 9_000 } }).options).toEqual({ num_predict: 1_000 });
    expect(sent({ max_tokens: 70 }, { override: { max_tokens: 0 } }).options).toEqual({ num_predict: 70 });
  });
});

test('a base URL of Ollama that ends in /v1 leads to its own interface', () => {
  const baseUrl = 'http://127.0.0.1:11434/v1';
  expect(request({}, { baseUrl }).url).toBe('http://127.0.0.1:11434/api/chat');
  expect(request({}, { baseUrl, mode: 'embeddings' }).url).toBe('http://127.0.0.1:11434/api/embed');
});

describe('a caller of Ollama', () => {
  test('chooses how is sampled', () => {
    expect(sent({ options: { min_p: 0.1, num_predict: 5 } }).options).toEqual({ min_p: 0.1, num_predict: 5 });
  });

  test.each<readonly [string, JsonObject]>([
    ['options.num_ctx', { options: { num_ctx: 1_000_000 } }],
    ['options.num_gpu', { options: { num_gpu: 0 } }],
    ['options must be', { options: 'all' }],
    ['keep_alive', { keep_alive: -1 }],
  ])('is refused what changes the server for all, with the name of %s, in chats and for vectors', (name, body) => {
    expect(() => request(body)).toThrow(name);
    expect(() => request(body, { mode: 'embeddings' })).toThrow(name);
  });
});
