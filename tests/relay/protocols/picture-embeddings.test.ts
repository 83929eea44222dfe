import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/* Vectors of pictures and texts, where a provider has another interface for them than for texts alone. */

const picture = 'data:image/jpeg;base64,/9j/4AAQ';

const request = (type: number, model: string, input: string | string[]) => {
  const provider = providerOfType(type);
  const caller = callerOf('embeddings', { model, input });
  return provider.protocol.request({ provider, channel: plainChannel, caller, model, options: usualOptions });
};

test.each([
  [17, 'text-embedding-v4', '/compatible-mode/v1/embeddings', '"input":"a cat"'],
  [17, 'qwen3-vl-embedding', '/multimodal-embedding/multimodal-embedding', '"contents":[{"text":"a cat"}]'],
  [17, 'tongyi-embedding-vision-plus', '/multimodal-embedding/multimodal-embedding', '"contents":[{"text":"a cat"}]'],
  [45, 'doubao-embedding-large-text-250515', '/api/v3/embeddings', '"input":"a cat"'],
  [45, 'doubao-embedding-vision-250615', '/api/v3/embeddings/multimodal', '"input":[{"type":"text","text":"a cat"}]'],
])('vectors by a channel of type %i with the model %s are requested at %s with %s', (type, model, path, said) => {
  const { url, content } = request(type, model, 'a cat');
  expect(url.endsWith(path)).toBe(true);
  expect(wordsOf(content)).toContain(said);
});

test('a picture for a model that makes one vector of each request is refused beside another input', () => {
  expect(() => request(45, 'doubao-embedding-vision-250615', ['a cat', picture])).toThrow('input: ');
  expect(wordsOf(request(45, 'doubao-embedding-vision-250615', picture).content)).toContain('"type":"image_url"');
});

const answered = (usage: JsonObject) => {
  const provider = providerOfType(17);
  return provider.protocol.answer({
    provider,
    channel: plainChannel,
    caller: callerOf('embeddings', { model: 'qwen3-vl-embedding', input: 'a cat' }),
    status: 200,
    headers: {},
    body: Buffer.from(JSON.stringify({ output: { embeddings: [{ index: 0, embedding: [1] }] }, usage })),
    info: { callId: 'call-1', model: 'qwen3-vl-embedding', createdAt: 0 },
  });
};

test.each([
  [
    { input_tokens: 10, image_tokens: 90 },
    { input: 10, imageInput: 90 },
  ],
  [
    { input_tokens: 100, input_tokens_details: { image_tokens: 90 } },
    { input: 10, imageInput: 90 },
  ],
  [
    { input_tokens: 100, image_tokens: 90, total_tokens: 100 },
    { input: 10, imageInput: 90 },
  ],
  [{ input_tokens: 7 }, { input: 7 }],
  [{}, null],
])('usage of vectors that is reported as %j is read as %j', (reported, usage) => {
  expect(answered(reported)).toMatchObject({ ok: true, usage });
});
