import { expect, test } from 'vitest';
import { batchEmbedContents, embedContent } from '../../../src/relay/dialects/gemini/endpoints/embed-content.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { neutralOf } from '../../../src/relay/protocols/neutral-of.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/* Members of Google's requests for vectors, at an upstream of OpenAI's wire. */

const content = { parts: [{ text: 'What is a ledger?' }] };

function sent(body: JsonObject): JsonObject {
  const endpoint = body.requests === undefined ? embedContent : batchEmbedContents;
  const neutral = neutralOf(endpoint, body);
  const caller = { ...callerOf('embeddings', body), dialect: endpoint.dialect, neutral };
  const provider = providerOfType(1);
  const model = 'text-embedding-3-small';
  const asked = { provider, channel: plainChannel, caller, model, options: usualOptions };
  return JSON.parse(wordsOf(provider.protocol.request(asked).content)) as JsonObject;
}

test.each<[string, JsonObject, JsonObject]>([
  ['a text', { content }, { input: 'What is a ledger?' }],
  ['its dimensions', { content, outputDimensionality: 256 }, { input: 'What is a ledger?', dimensions: 256 }],
  ['no purpose', { content, taskType: 'TASK_TYPE_UNSPECIFIED' }, { input: 'What is a ledger?' }],
  ['several texts', { requests: [{ content }, { content }] }, { input: Array(2).fill('What is a ledger?') }],
])('a request for vectors of %s is translated', (_, body, asked) =>
  expect(sent(body)).toEqual({ model: 'text-embedding-3-small', ...asked }),
);

test.each<[string, JsonObject]>([
  ['taskType', { content, taskType: 'RETRIEVAL_QUERY' }],
  ['taskType', { content, task_type: 'RETRIEVAL_DOCUMENT', title: 'Ledgers' }],
  ['taskType', { requests: [{ content }, { content, taskType: 'RETRIEVAL_QUERY' }] }],
  ['title', { content, title: 'Ledgers' }],
  ['autoTruncate', { content, autoTruncate: true }],
  ['requests[1].ofTomorrow', { requests: [{ content }, { content, ofTomorrow: 1 }] }],
])('%s is refused by its name, as other vectors would be made', (name, body) => expect(() => sent(body)).toThrow(name));
