import { describe, expect, test } from 'vitest';
import type { CallerRequest } from '../../../src/relay/contracts/protocol.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { perplexity } from '../../../src/relay/providers/perplexity.js';
import { bodyOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, usualOptions } from './golden.js';

/* Chats that are put to Perplexity's Agent API, and what comes back. */

const channel = { ...plainChannel, responsesOnly: true };
const info = { callId: 'call-1', model: 'sonar', createdAt: 1 };
const question = { role: 'user', content: 'Which towns?' };

const callerFor = (body: JsonObject): CallerRequest => callerOf('chat', { messages: [question], ...body });

function asked(model: string, body: JsonObject = {}, passThrough = false) {
  const options = { ...usualOptions, passThrough };
  const request = perplexity.protocol.request({
    ...{ provider: perplexity, channel, caller: callerFor({ model, ...body }), model, options },
  });
  return { url: request.url, body: JSON.parse(String(bodyOf(request.content))) as JsonObject };
}

describe('a chat for the Agent API', () => {
  test('of Sonar searches once, with what its caller says of the search, and has no member that is unknown there', () => {
    const { url, body } = asked('sonar', {
      ...{ max_tokens: 90, temperature: 0.2, top_p: 0.9, top_k: 5, user: 'u1', metadata: { a: 'b' } },
      ...{ search_domain_filter: ['example.org'], return_images: true, language_preference: 'is' },
      web_search_options: { search_context_size: 'low', other: 1 },
      response_format: { type: 'json_schema', json_schema: { name: 'towns', schema: { type: 'object' } } },
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        { role: 'assistant', content: 'A town.' },
        question,
      ],
    });
    expect(url).toBe('https://api.perplexity.ai/v1/responses');
    expect(body).toEqual({
      ...{ model: 'perplexity/sonar', max_steps: 1, max_output_tokens: 90, temperature: 0.2, top_p: 0.9, store: false },
      input: [
        { type: 'message', role: expect.stringMatching(/system|developer/), content: 'Be brief.' },
        {
          ...{ type: 'message', role: 'user' },
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
          ],
        },
        { type: 'message', role: 'assistant', content: [{ type: 'input_text', text: 'A town.' }] },
        { type: 'message', ...question },
      ],
      tools: [{ type: 'web_search', search_context_size: 'low', filters: { search_domain_filter: ['example.org'] } }],
      response_format: { type: 'json_schema', json_schema: { name: 'towns', schema: { type: 'object' } } },
      language_preference: 'is',
    });
  });

  test.each([
    ['sonar-pro', 'fast'],
    ['perplexity/sonar-reasoning-pro', 'low'],
    ['sonar-deep-research', 'high'],
  ])('of %s runs the preset %s on Perplexity’s own model', (model, preset) => {
    const { body } = asked(model, { reasoning_effort: 'high', stream: true });
    expect(body).toMatchObject({ model: 'perplexity/sonar', preset, reasoning: { effort: 'high' } });
  });

  test('of another maker’s model, or without a search, has no search', () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
    expect(asked('openai/gpt-5.5', { tools }).body).toMatchObject({
      ...{ model: 'openai/gpt-5.5', tools: [{ type: 'function', name: 'look' }] },
    });
    expect(asked('sonar-pro', { disable_search: true }).body).toEqual({
      ...{ model: 'perplexity/sonar', store: false, input: [{ type: 'message', ...question }] },
    });
  });

  test.each([
    ['stop', { stop: ['x'] }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['tool_choice', { tools: [{ type: 'function', function: { name: 'look' } }], tool_choice: 'required' }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'JVBERi0=' } }] }] }],
  ])('is refused by the name of %s where it would be answered otherwise', (name, body) => {
    expect(() => asked('sonar', body as JsonObject)).toThrow(
      expect.objectContaining({ fault: 'caller', message: expect.stringContaining(name) }),
    );
  });

  test.each([
    ['', true],
    ['https://api.perplexity.ai', true],
    ['https://api.perplexity.ai/v1', true],
    ['https://gateway.ai.cloudflare.com/v1/a/g/perplexity-ai', true],
    ['https://api.perplexity.ai.example', false],
    ['https://reseller.example', false],
    ['https://proxy.example/perplexity/v1/agent', true],
  ])('is put by a channel with the base URL %j: %s', (baseUrl, agent) => {
    expect(perplexity.responsesAlone?.(baseUrl)).toBe(agent);
  });
});

const usage = {
  ...{ input_tokens: 900, output_tokens: 4, total_tokens: 904 },
  input_tokens_details: { cache_read_input_tokens: 100, cache_creation_input_tokens: 20 },
  tool_calls_details: { web_search: { invocation: 2 }, fetch_url: { invocation: 5 } },
  cost: { currency: 'USD', input_cost: 0.001, output_cost: 0.001, total_cost: 0.007 },
};
const spent = { input: 780, cachedInput: 100, cacheWrite: 20, output: 4, 'calls:web_search': 2 };
const found = { type: 'search_results', results: [{ id: 1, title: 'Vík', url: 'https://is.example/vik' }] };
const cited = { type: 'url_citation', url: 'https://is.example/vik', title: 'Vík', start_index: 0, end_index: 3 };
const message = {
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: 'Vík.', annotations: [cited] }],
};
const response = {
  ...{ id: 'resp_1', object: 'response', created_at: 5, model: 'perplexity/sonar', status: 'completed' },
  ...{ output: [found, message], usage },
};

describe('an answer of the Agent API', () => {
  test('is a chat with its sources, charged for tokens and searches, and its cost is read', () => {
    const answer = perplexity.protocol.answer({
      ...{ provider: perplexity, channel, caller: callerFor({ model: 'sonar' }), status: 200, headers: {}, info },
      body: Buffer.from(JSON.stringify(response)),
    });
    if (!answer.ok) throw new Error(answer.error.message);
    expect(answer.usage).toEqual(spent);
    expect(answer.generated.upstreamCost).toBe('0.007');
    expect(answer.body).toMatchObject({
      model: 'perplexity/sonar',
      choices: [
        { message: { content: 'Vík.', annotations: [{ url_citation: { url: cited.url } }] }, finish_reason: 'stop' },
      ],
    });
  });

  const events = (...sent: readonly JsonObject[]): Buffer =>
    Buffer.from(sent.map((event, at) => `data: ${JSON.stringify({ sequence_number: at, ...event })}\n\n`).join(''));
  const begun: JsonObject[] = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    { type: 'response.reasoning.started', thought: null },
    { type: 'response.reasoning.search_queries', queries: ['towns'] },
    { type: 'response.output_item.added', output_index: 1, item: { ...message, content: [], status: 'in_progress' } },
    { type: 'response.output_text.delta', output_index: 1, item_id: 'msg_1', content_index: 0, delta: 'Vík.' },
  ];

  function play(pieces: readonly Buffer[]) {
    const caller = { ...callerFor({ model: 'sonar', stream: true }), stream: true };
    const stream = perplexity.protocol.stream({ provider: perplexity, channel, caller, info });
    const steps = [...pieces.map((piece) => stream.push(piece)), stream.end()];
    const sent = Buffer.concat(steps.flatMap(({ bytes }) => bytes ?? [])).toString('utf8');
    const words = [...sent.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join('');
    const error = steps.find((step) => step.error !== null)?.error?.message ?? null;
    return { words, usage: stream.usage, ended: stream.generated.finishReason, error };
  }

  test('is the same as a stream that is cut at every byte', () => {
    const whole = events(...begun, { type: 'response.completed', response });
    const expected = { words: 'Vík.', usage: spent, ended: 'stop', error: null };
    for (let at = 0; at <= whole.length; at++)
      expect(play([Buffer.from(whole.subarray(0, at)), Buffer.from(whole.subarray(at))])).toEqual(expected);
  });

  test('that fails says why, where the event has no response', () => {
    const failed = { type: 'response.failed', error: { code: 'rate_limited', message: 'too many requests' } };
    expect(play([events(...begun, failed)])).toMatchObject({ words: 'Vík.', error: 'too many requests' });
  });
});
