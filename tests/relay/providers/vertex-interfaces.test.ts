import { describe, expect, test } from 'vitest';
import type { Mode } from '../../../src/domain/channel/provider.js';
import { NotConvertible } from '../../../src/relay/contracts/protocol.js';
import { responses } from '../../../src/relay/dialects/openai/endpoints/responses.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import {
  type Keeper,
  type ResourcePorts,
  resourceCaller,
  resourceRequest,
} from '../../../src/relay/pipeline/kept/resource-request.js';
import { googleVertex } from '../../../src/relay/providers/google-vertex.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { messageItem, reportedUsage, responseOf } from '../../support/upstreams/responses-answers.js';
import { serviceAccountDocument } from '../../support/upstreams/vertex-upstream.js';
import { callerOf, plainChannel, usualOptions } from './golden.js';

/* The interfaces of other makers in Google's cloud, and vectors of its model for pictures and texts. */

const location = 'https://us-east5-aiplatform.googleapis.com/v1/projects/proj-test-1/locations/us-east5';
const channel = { ...plainChannel, key: serviceAccountDocument('https://tokens.example/token'), other: 'us-east5' };

const asked = (mode: Mode, model: string, body: JsonObject = {}) =>
  googleVertex.protocol.request({
    ...{ provider: googleVertex, channel, model, options: usualOptions },
    caller: callerOf(mode, { model, ...body }),
  });

const talk = { messages: [{ role: 'user', content: 'hi' }] };

describe('a response on Vertex AI', () => {
  test.each([
    ['openai/gpt-5.6-sol', '/publishers/openai/v1/responses'],
    ['gpt-5.6-sol', '/publishers/openai/v1/responses'],
    ['xai/grok-4.20-reasoning', '/endpoints/openapi/responses'],
    ['', '/publishers/openai/v1/responses'],
  ])('by %s is requested at %s', (model, path) => {
    expect(asked('responses', model, { input: 'hi' }).url).toBe(location + path);
  });

  test.each(['gemini-3.5-flash', 'claude-sonnet-5'])('by %s is refused, as another channel may serve it', (model) => {
    expect(() => asked('responses', model, { input: 'hi' })).toThrow(
      expect.objectContaining({ name: NotConvertible.name, fault: 'caller' }),
    );
  });

  test('is what a chat with OpenAI’s own models becomes, which have no other interface', () => {
    const { url, content } = asked('chat', 'openai/gpt-5.6-sol', { ...talk, max_tokens: 50 });
    expect(url).toBe(`${location}/publishers/openai/v1/responses`);
    expect(JSON.parse(wordsOf(content))).toMatchObject({
      ...{ model: 'openai/gpt-5.6-sol', max_output_tokens: 50, store: false },
      input: [{ type: 'message', role: 'user', content: 'hi' }],
    });
    const response = responseOf([messageItem('Höfn.')], { usage: reportedUsage(20, 10) });
    const answer = googleVertex.protocol.answer({
      ...{ provider: googleVertex, channel, caller: callerOf('chat', { model: 'm', ...talk }) },
      ...{ status: 200, headers: {}, body: Buffer.from(JSON.stringify(response)) },
      info: { callId: 'call-1', model: 'openai/gpt-5.6-sol', createdAt: 0 },
    });
    expect(answer).toMatchObject({ ok: true, usage: { input: 20, output: 10 } });
  });

  test('is not requested by models with open weights, which are called as a service', () => {
    const { url } = asked('chat', 'openai/gpt-oss-120b-maas', talk);
    expect(url).toBe(`${location}/endpoints/openapi/chat/completions`);
  });
});

describe('what is kept on Vertex AI', () => {
  const settings = { ...usualOptions, passThroughRequests: false };
  const ports = { directory: { settings: () => settings }, config: usualOptions, clock: { now: () => 0 } };
  const regions = '{"default":"us-east5","mine":"europe-west1"}';
  const keeper = { provider: googleVertex, channel: { ...channel, other: regions }, parsed: { passThrough: false } };
  const query = new URLSearchParams();
  const urlOf = (of: { readonly model: string; readonly upstreamModel: string }): string =>
    resourceRequest(
      ports as unknown as ResourcePorts,
      keeper as unknown as Keeper,
      resourceCaller(responses, query, {}, { stream: false, model: of.model }),
      { method: 'GET', instead: null, path: ['resp_1'], query, model: of.upstreamModel, content: null },
    ).url;

  test('is requested where its call went: in the region of the model’s name, at the maker’s interface', () => {
    expect(urlOf({ model: 'mine', upstreamModel: 'xai/grok-4.20-reasoning' })).toBe(
      `${location.replaceAll('us-east5', 'europe-west1')}/endpoints/openapi/responses/resp_1`,
    );
    expect(urlOf({ model: '', upstreamModel: '' })).toBe(`${location}/publishers/openai/v1/responses/resp_1`);
  });
});

describe('the model for pictures and texts of Vertex AI', () => {
  const model = 'multimodalembedding@001';

  test('is sent texts and a dimension by its own names', () => {
    const { url, content } = asked('embeddings', model, { input: ['a', 'b'], dimensions: 512 });
    expect(url).toBe(`${location}/publishers/google/models/${model}:predict`);
    expect(JSON.parse(wordsOf(content))).toEqual({
      instances: [{ text: 'a' }, { text: 'b' }],
      parameters: { dimension: 512 },
    });
  });

  test('answers with a vector for each text, and without counts', () => {
    const body = { predictions: [{ textEmbedding: [0.5, 0.25] }, { textEmbedding: [1, 0] }] };
    const answer = googleVertex.protocol.answer({
      ...{ provider: googleVertex, channel, caller: callerOf('embeddings', { model, input: ['a', 'b'] }) },
      ...{ status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) },
      info: { callId: 'call-1', model, createdAt: 0 },
    });
    expect(answer).toMatchObject({
      ...{ ok: true, usage: null },
      body: { data: [{ embedding: [0.5, 0.25] }, { embedding: [1, 0] }] },
    });
  });
});
