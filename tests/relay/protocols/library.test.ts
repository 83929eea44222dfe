import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { parseJson } from '../../../src/relay/json/json.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import {
  callerOf,
  type Golden,
  goldens,
  plainChannel,
  play,
  providerOfType,
  usualOptions,
} from '../providers/golden.js';

/* What the golden cases of AI Proxy's knowledge bases do not show. */

const provider = providerOfType(21);
const golden = goldens.find(({ name }) => name.endsWith('ai-proxy-library/stream')) as Golden;
const user = { role: 'user', content: 'hi' };

const request = (body: JsonObject, other = 'lib-42', paramOverride: JsonObject | null = null) =>
  provider.protocol.request({
    provider,
    channel: { ...plainChannel, other, paramOverride },
    caller: callerOf('chat', { model: 'gpt-4', messages: [user], ...body }),
    model: 'gpt-4',
    options: usualOptions,
  });

test.each([
  [{ n: 2 }, 'n: '],
  [{ tools: [{ type: 'function', function: { name: 'add' } }] }, 'tools: '],
  [{ messages: [user, { role: 'assistant', content: 'x' }] }, 'messages: '],
  [{ messages: [] }, 'messages: '],
  [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages[0].content[0]: '],
] satisfies [JsonObject, string][])('a question to a knowledge base with %j is refused by name', (body, named) => {
  expect(() => request(body)).toThrow(named);
});

test('a channel without the id of a knowledge base asks nothing', () => {
  expect(() => request({}, ' ')).toThrow('names no knowledge base');
});

test('an operator’s parameters are sent beside the question', () => {
  expect(parseJson(wordsOf(request({}, 'lib-42', { topK: 3 }).content))).toMatchObject({ query: 'hi', topK: 3 });
});

test.each([
  ['{"content":"A","finish":false}', '{"success":false,"errCode":429,"message":"later"}', 429, 'A'],
  ['{"content":"A","finish":false}', '{"errCode":7,"message":"later"}', 502, 'A'],
])('a stream %s that reports the failure %s ends with it', (first, failure, status, text) => {
  const played = play(golden, [Buffer.from(`data: ${first}\n\ndata: ${failure}\n\n`)]);
  expect(played.error).toMatchObject({ status, message: 'later' });
  expect(played.generated.text).toBe(text);
});

test('a stream that finishes without a word has not answered', () => {
  const { generated } = play(golden, [Buffer.from('data: {"content":"","finish":true,"documents":[]}\n\n')]);
  expect(generated).toMatchObject({ text: '', finishReason: null });
});
