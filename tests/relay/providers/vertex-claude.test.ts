import { expect, test } from 'vitest';
import type { CallerRequest } from '../../../src/relay/contracts/protocol.js';
import { messages } from '../../../src/relay/dialects/anthropic/endpoints/messages.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { neutralOf } from '../../../src/relay/protocols/neutral-of.js';
import { vertexClaude } from '../../../src/relay/protocols/vertex/claude.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from './golden.js';

/* Pictures that lie elsewhere, for Anthropic's models in Google's cloud: they are taken in the request only. */

const provider = providerOfType(41);
const claude = 'claude-sonnet-4-5';
const address = 'https://p.example/a.png';

const saying = (...content: JsonObject[]): JsonObject => ({
  model: claude,
  max_tokens: 16,
  messages: [{ role: 'user', content }],
});

function own(body: JsonObject): CallerRequest {
  return { ...callerOf('chat', body), dialect: messages.dialect, neutral: neutralOf(messages, body) };
}

const asked = (caller: CallerRequest) => {
  const pictures = new Map([[address, { type: 'image/png', data: 'iVBORw==' }]]);
  const channel = { ...plainChannel, baseUrl: 'https://vertex.example' };
  const options = { ...usualOptions, pictures };
  return JSON.parse(wordsOf(vertexClaude.request({ provider, channel, caller, model: claude, options }).content));
};

test.each([
  ['Anthropic’s', own(saying({ type: 'image', source: { type: 'url', url: address } }))],
  ['OpenAI’s', callerOf('chat', saying({ type: 'image_url', image_url: { url: address } }))],
])('are fetched for clients of %s dialect', (_whose, caller) => {
  expect(provider.protocol.pictures?.({ caller, model: claude, channel: plainChannel })).toEqual([address]);
  expect(asked(caller).messages[0].content).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw==' } },
  ]);
});

test('documents at URLs are refused by name', () => {
  const source = { type: 'url', url: 'https://p.example/a.pdf' };
  expect(() => asked(own(saying({ type: 'document', source })))).toThrow('messages[0].content[0].source.url');
});
