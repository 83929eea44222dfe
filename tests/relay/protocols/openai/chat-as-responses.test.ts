import { describe, expect, test } from 'vitest';
import type { CallerRequest } from '../../../../src/relay/contracts/protocol.js';
import { messages } from '../../../../src/relay/dialects/anthropic/endpoints/messages.js';
import { generateContent } from '../../../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { chat } from '../../../../src/relay/dialects/openai/endpoints/chat.js';
import { type JsonObject, objectsIn } from '../../../../src/relay/json/json.js';
import { neutralOf } from '../../../../src/relay/protocols/neutral-of.js';
import { wordsOf } from '../../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../../providers/golden.js';

/* A chat put to an upstream that has the Responses API alone: the request. */

const model = 'gpt-5.2-pro';
const question = { role: 'user', content: 'What is a ledger?' };

const endpoints = { openai: chat, anthropic: messages, gemini: generateContent };

interface CallInput {
  readonly type?: number;
  readonly dialect?: keyof typeof endpoints;
  readonly channel?: Partial<typeof plainChannel>;
  readonly more?: Partial<CallerRequest>;
}

function sent(body: JsonObject, { type = 1, dialect = 'openai', channel = {}, more = {} }: CallInput = {}) {
  const provider = providerOfType(type);
  const endpoint = endpoints[dialect];
  const asked = { model, ...body };
  const caller: CallerRequest = {
    ...callerOf('chat', asked),
    dialect: endpoint.dialect,
    neutral: neutralOf(endpoint, asked),
    ...more,
  };
  const request = provider.protocol.request({
    provider,
    channel: { ...plainChannel, responsesOnly: true, ...channel },
    caller,
    model: String(asked.model),
    options: usualOptions,
  });
  return { ...request, body: JSON.parse(wordsOf(request.content)) as JsonObject };
}

const itemsFor = (said: readonly JsonObject[], input?: CallInput): JsonObject[] =>
  objectsIn(sent({ messages: [question, ...said] }, input).body.input).slice(1);

describe('a chat at an upstream with the Responses API alone', () => {
  test('becomes items with store false, and includes encrypted reasoning', () => {
    const { url, body } = sent({ messages: [{ role: 'system', content: 'Be brief.' }, question] });
    expect(url).toBe('https://api.openai.com/v1/responses');
    expect(body).toEqual({
      model,
      input: [
        { type: 'message', role: 'developer', content: 'Be brief.' },
        { type: 'message', role: 'user', content: 'What is a ledger?' },
      ],
      include: ['reasoning.encrypted_content'],
      store: false,
    });
  });

  test.each([
    [48, {}, 'https://api.x.ai/v1/responses'],
    [39, { other: 'acc' }, 'https://api.cloudflare.com/client/v4/accounts/acc/ai/v1/responses'],
    [8, { baseUrl: 'https://any.example/v1/responses' }, 'https://any.example/v1/responses'],
    [3, { baseUrl: 'https://r.example' }, 'https://r.example/openai/v1/responses'],
  ])('of type %i with %j is requested at %s', (type, channel, url) => {
    expect(sent({ messages: [question] }, { type, channel }).url).toBe(url);
  });

  test('carries pictures, and files as data, in the words of items', () => {
    const content = [
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://pictures.example/cat.png' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,CCCC' } },
    ];
    expect(itemsFor([{ role: 'user', content }])).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
          { type: 'input_image', image_url: 'https://pictures.example/cat.png', detail: 'auto' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
          { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,CCCC' },
        ],
      },
    ]);
  });

  test('carries calls of functions and of custom tools, and their results, each by its type', () => {
    const calls = [
      { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"word":"ledger"}' } },
      { id: 'call_2', type: 'custom', custom: { name: 'patch', input: '*** Begin' } },
    ];
    const items = itemsFor([
      { role: 'assistant', content: 'One moment.', tool_calls: calls },
      {
        role: 'tool',
        tool_call_id: 'call_1',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'book' },
        ],
      },
      { role: 'tool', tool_call_id: 'call_2', content: 'done' },
    ]);
    expect(items).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'One moment.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{"word":"ledger"}' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: '*** Begin' },
      { type: 'function_call_output', call_id: 'call_1', output: 'a\nbook' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'done' },
    ]);
  });

  test('pairs calls of the older kind with their results', () => {
    const items = itemsFor([
      { role: 'assistant', content: null, function_call: { name: 'look_up', arguments: '{}' } },
      { role: 'function', name: 'look_up', content: 'a book' },
    ]);
    expect(items).toEqual([
      { type: 'function_call', call_id: 'function_look_up', name: 'look_up', arguments: '{}' },
      { type: 'function_call_output', call_id: 'function_look_up', output: 'a book' },
    ]);
  });

  test('shows pictures within the result of a tool, and that it has failed', () => {
    const content = [
      {
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        is_error: true,
        content: [
          { type: 'text', text: 'no' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
      },
    ];
    const said = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
      { role: 'user', content },
    ];
    const { body } = sent({ max_tokens: 9, messages: [question, ...said] }, { dialect: 'anthropic' });
    expect(objectsIn(body.input).at(-1)).toEqual({
      type: 'function_call_output',
      call_id: 'toolu_1',
      output: [
        { type: 'input_text', text: 'Error:' },
        { type: 'input_text', text: 'no' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
      ],
    });
  });

  test('offers tools without an object around them, functions as strict as they were', () => {
    const parameters = { type: 'object', properties: { word: { type: 'string' } } };
    const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } };
    const { body } = sent({
      messages: [question],
      tools: [
        { type: 'function', function: { name: 'look_up', description: 'Looks up', parameters } },
        { type: 'function', function: { name: 'stop', strict: true } },
        { type: 'custom', custom: { name: 'patch', format: grammar } },
        { type: 'custom', custom: { name: 'say', format: { type: 'text' } } },
      ],
      tool_choice: { type: 'custom', custom: { name: 'patch' } },
      parallel_tool_calls: false,
    });
    expect(body).toMatchObject({
      tools: [
        { type: 'function', name: 'look_up', description: 'Looks up', parameters, strict: false },
        { type: 'function', name: 'stop', parameters: { type: 'object', properties: {} }, strict: true },
        { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
        { type: 'custom', name: 'say', format: { type: 'text' } },
      ],
      tool_choice: { type: 'custom', name: 'patch' },
      parallel_tool_calls: false,
    });
  });

  const named = { type: 'function', function: { name: 'f' } };
  test.each<[JsonObject[string], JsonObject[string]]>([
    ['required', 'required'],
    [named, { type: 'function', name: 'f' }],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named] } },
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
    ],
  ])('with the choice %j of a tool is sent %j', (choice, sentBody) => {
    expect(sent({ messages: [question], tools: [named], tool_choice: choice }).body.tool_choice).toEqual(sentBody);
  });

  test('carries the form of the answer, the effort and the other members that both have', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const { body, reasoningEffort } = sent({
      messages: [question],
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      verbosity: 'low',
      reasoning_effort: 'high',
      max_completion_tokens: 900,
      prompt_cache_key: 'k',
      safety_identifier: 's',
      metadata: { a: 'b' },
    });
    expect(body).toMatchObject({
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true }, verbosity: 'low' },
      reasoning: { effort: 'high' },
      max_output_tokens: 900,
      ...{ prompt_cache_key: 'k', safety_identifier: 's', metadata: { a: 'b' } },
    });
    expect(reasoningEffort).toBe('high');
  });

  test('takes the effort at the end of a name, and leaves out what a reasoning model refuses', () => {
    const { body, model: named } = sent({ model: 'gpt-5-high', messages: [question], temperature: 0.2, stop: [] });
    expect(body).toMatchObject({ model: 'gpt-5', reasoning: { effort: 'high' } });
    expect(body).not.toHaveProperty('temperature');
    expect(named).toBe('gpt-5');
  });

  test('asks a model that does not think for no sealed thinking, and for likelihoods by `include`', () => {
    const { body } = sent({
      model: 'gpt-4.1',
      messages: [question],
      logprobs: true,
      top_logprobs: 3,
      temperature: 0.5,
    });
    expect(body).toMatchObject({ include: ['message.output_text.logprobs'], top_logprobs: 3, temperature: 0.5 });
  });

  test.each<[keyof typeof endpoints, JsonObject, JsonObject]>([
    ['anthropic', { thinking: { type: 'enabled', budget_tokens: 4_096 } }, { effort: 'medium', summary: 'auto' }],
    ['anthropic', { thinking: { type: 'disabled' } }, { effort: 'minimal' }],
    ['gemini', { generationConfig: { thinkingConfig: { thinkingBudget: 20_000 } } }, { effort: 'high' }],
    ['openai', { reasoning: { effort: 'low', summary: 'detailed' } }, { effort: 'low', summary: 'detailed' }],
  ])('of a caller of %s with %j has the reasoning %j', (dialect, body, reasoning) => {
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
    const said = dialect === 'gemini' ? { contents } : { messages: [question] };
    const rest = dialect === 'anthropic' ? { max_tokens: 9_000 } : {};
    const { body: sentBody } = sent({ model: 'gpt-5', ...said, ...rest, ...body }, { dialect });
    expect(sentBody.reasoning).toEqual(reasoning);
  });

  test('carries the limit that can be afforded, and an operator’s parameters within the reserved limit', () => {
    const asked = { messages: [question], max_tokens: 900 };
    expect(sent(asked, { more: { outputLimit: 64 } }).body.max_output_tokens).toBe(64);
    const paramOverride = { max_tokens: 5_000, store: true, truncation: 'auto' };
    expect(sent(asked, { channel: { paramOverride }, more: { maxOutput: 900 } }).body).toMatchObject({
      ...{ max_output_tokens: 900, store: false, truncation: 'auto' },
    });
  });

  test('carries no tier without a price, and no other model', () => {
    const body = { messages: [question], models: ['dear'], service_tier: 'priority' };
    expect(sent(body).body).not.toHaveProperty('service_tier');
    expect(sent(body, { more: { tiers: ['priority'] } }).body.service_tier).toBe('priority');
  });

  test('streams where its caller does', () => {
    const body = { messages: [question], stream: true, stream_options: { include_usage: true } };
    const { body: sentBody, headers } = sent(body);
    expect(sentBody.stream).toBe(true);
    expect(sentBody).not.toHaveProperty('stream_options');
    expect(headers.accept).toBe('text/event-stream');
  });

  test.each<[string, JsonObject]>([
    ['stop', { stop: ['END'] }],
    ['seed', { seed: 0 }],
    ['n', { n: 2 }],
    ['store', { store: true }],
    ['logit_bias', { logit_bias: { '50256': -100 }, model: 'gpt-4.1' }],
    ['frequency_penalty', { frequency_penalty: 1, model: 'gpt-4.1' }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['audio', { audio: { voice: 'alloy' } }],
    ['prediction', { prediction: { type: 'content', content: 'a' } }],
    ['web_search_options', { web_search_options: {} }],
    ['someday', { someday: 1 }],
    ['tools[0].type', { tools: [{ type: 'retrieval' }] }],
    ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
    ['tool_choice', { tools: [named], tool_choice: 'sometimes' }],
    ['response_format.type', { response_format: { type: 'xml' } }],
    ['messages[0].name', { messages: [{ ...question, name: 'Ann' }] }],
    ['messages[0].role', { messages: [{ role: 'narrator', content: 'a' }] }],
    ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }],
    [
      'messages[0].content[0].file',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    ],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'a' }] }],
    ['messages[0].audio', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }],
  ])('with %s, which cannot be carried, is refused by that name', (name, body) => {
    expect(() => sent({ messages: [question], ...body })).toThrow(
      expect.objectContaining({
        fault: 'caller',
        message: expect.stringMatching(`^${name.replace(/[[\]]/g, '\\$&')}\\b`),
      }),
    );
  });

  test('leaves out penalties of zero, and top_k of callers of other dialects', () => {
    const idle = { stop: [], presence_penalty: 0, frequency_penalty: 0, logit_bias: {}, modalities: ['text'], n: 1 };
    const { body } = sent({ model: 'gpt-4.1', messages: [question], ...idle });
    for (const name of Object.keys(idle)) expect(body).not.toHaveProperty(name);
    const { body: across } = sent({ max_tokens: 9, top_k: 5, messages: [question] }, { dialect: 'anthropic' });
    expect(across).not.toHaveProperty('top_k');
  });

  test('is not put to it as a text to be completed', () => {
    const provider = providerOfType(1);
    const channel = { ...plainChannel, responsesOnly: true };
    const caller = callerOf('completions', { model, prompt: 'a' });
    expect(() => provider.protocol.request({ provider, channel, caller, model, options: usualOptions })).toThrow(
      expect.objectContaining({ fault: 'caller' }),
    );
  });
});
