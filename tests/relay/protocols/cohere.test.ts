import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, type Golden, plainChannel, play, providerOfType, usualOptions } from '../providers/golden.js';

const provider = providerOfType(34);
const message = { role: 'user', content: 'hi' };
const tool = (name: string): JsonObject => ({ type: 'function', function: { name, parameters: { type: 'object' } } });

function sent(body: JsonObject, mode: 'chat' | 'embeddings' = 'chat'): JsonObject {
  const caller = callerOf(mode, { model: 'command-a-03-2025', ...body });
  const asked = { provider, channel: plainChannel, caller, model: 'command-a-03-2025', options: usualOptions };
  return JSON.parse(wordsOf(provider.protocol.request(asked).content));
}

describe('a chat for Cohere', () => {
  test.each<readonly [string, JsonObject]>([
    ['n:', { n: 2 }],
    ['logprobs:', { logprobs: true }],
    ['logit_bias:', { logit_bias: { 50256: -100 } }],
    ['modalities:', { modalities: ['text', 'audio'] }],
    ['web_search_options:', { web_search_options: {} }],
    ['stop:', { stop: ['a', 'b', 'c', 'd', 'e', 'f'] }],
    ['tools[1].type:', { tools: [tool('a'), { type: 'custom', custom: { name: 'b' } }] }],
    [
      'tool_choice must be',
      { tools: [tool('a')], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } },
    ],
    ['tool_choice must be', { tools: [tool('a')], tool_choice: 'sometimes' }],
    ['tool_choice', { tools: [tool('a')], tool_choice: { type: 'function', function: { name: 'b' } } }],
    [
      'messages[0].content[0].type:',
      {
        messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }] }],
      },
    ],
    [
      'messages[0].content[0].file:',
      {
        messages: [
          { role: 'user', content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }] },
        ],
      },
    ],
  ])('is refused with the name of %s, which Cohere does not have', (name, body) => {
    expect(() => sent({ messages: [message], ...body })).toThrow(name);
  });

  test('says that no tool is to be called, and thinks no more than it is allowed to', () => {
    const body = { messages: [message], tools: [tool('a')], tool_choice: 'none', max_tokens: 500 };
    expect(sent({ ...body, thinking: { type: 'enabled', budget_tokens: 9_000 } })).toMatchObject({
      tool_choice: 'NONE',
      thinking: { type: 'enabled', token_budget: 499 },
    });
  });

  test('pairs calls of the older kind with their results by a name', () => {
    const { messages } = sent({
      messages: [
        message,
        { role: 'assistant', content: null, function_call: { name: 'a', arguments: '{}' } },
        { role: 'function', name: 'a', content: '1' },
      ],
      functions: [{ name: 'a', parameters: { type: 'object' } }],
    });
    expect(messages).toEqual([
      message,
      {
        role: 'assistant',
        tool_calls: [{ id: 'function_a', type: 'function', function: { name: 'a', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'function_a', content: '1' },
    ]);
  });
});

test('a chat for Cohere carries parts that are strings and refusals of earlier answers', () => {
  const messages = [
    { role: 'user', content: ['hello', { type: 'text', text: 'you' }] },
    { role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not.' }] },
    { role: 'user', content: 'why?' },
  ];
  expect(sent({ messages }).messages).toEqual([
    { role: 'user', content: 'hello\nyou' },
    { role: 'assistant', content: 'I will not.' },
    { role: 'user', content: 'why?' },
  ]);
});

test.each([34, 23])('two calls of the older kind of one function have ids of their own at type %i', (type) => {
  const turn = (result: string) => [
    { role: 'assistant', content: null, function_call: { name: 'a', arguments: '{}' } },
    { role: 'function', name: 'a', content: result },
  ];
  const own = providerOfType(type);
  const key = type === 23 ? '125|AKIDtest00000000|secret0000000000' : plainChannel.key;
  const caller = callerOf('chat', { model: 'm', messages: [message, ...turn('1'), ...turn('2')] });
  const asked = { provider: own, channel: { ...plainChannel, key }, caller, model: 'm', options: usualOptions };
  const text = wordsOf(own.protocol.request(asked).content);
  const ids = [...text.matchAll(/"(?:id|Id|tool_call_id|ToolCallId)":"(function_[^"]*)"/g)].map(([, id]) => id);
  expect(ids).toEqual(['function_a', 'function_a', 'function_a_2', 'function_a_2']);
});

describe('texts to embed at Cohere', () => {
  test('are for documents unless the request says otherwise', () => {
    expect(sent({ input: 'one' }, 'embeddings').input_type).toBe('search_document');
    expect(sent({ input: 'one', task_type: 'RETRIEVAL_QUERY' }, 'embeddings').input_type).toBe('search_query');
  });

  test.each<readonly [string, JsonObject]>([
    ['input:', { input: Array.from({ length: 97 }, () => 'x') }],
    ['input:', { input: ['x', 'data:image/png;base64,AA=='] }],
    ['input[0]', { input: [[1, 2]] }],
    ['taskType:', { input: 'x', task_type: 'SEMANTIC_SIMILARITY' }],
  ])('are refused naming %s where Cohere does not take them', (name, body) => {
    expect(() => sent(body, 'embeddings')).toThrow(name);
  });
});

function streamed(...events: readonly JsonObject[]) {
  const caller = callerOf('chat', { model: 'm', stream: true, messages: [message] });
  const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  const golden = { provider, channel: plainChannel, caller, expected: {} } as unknown as Golden;
  return play({ ...golden, info: { callId: 'c', model: 'm', createdAt: 0 } }, [bytes]);
}

const words = { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Half' } } } };

describe('a stream of Cohere', () => {
  test.each(['ERROR', 'TIMEOUT', 'ERROR_LIMIT'])('that ends with %s has failed, and what came is known', (reason) => {
    const { error, generated } = streamed(words, { type: 'message-end', delta: { finish_reason: reason } });
    expect(error).toMatchObject({ status: 502 });
    expect(generated).toMatchObject({ text: 'Half', finishReason: null });
  });

  test('that reports a failure at its end is passed on as failed, in its words', () => {
    const { error } = streamed(words, {
      type: 'message-end',
      delta: { finish_reason: 'COMPLETE', error: 'NODE_OVERLOADED' },
    });
    expect(error?.message).toContain('NODE_OVERLOADED');
  });

  test('is over with the end of its message, whatever follows', () => {
    const end = { type: 'message-end', delta: { finish_reason: 'COMPLETE' } };
    expect(streamed(words, end, words).generated).toEqual({ text: 'Half', toolCalls: 0, finishReason: 'stop' });
  });

  test('with unknown events, or events of the wrong types, is read to its end', () => {
    const odd = [
      { type: 'debug', delta: null },
      { type: 'content-delta', delta: { message: { content: [] } } },
      { type: 'tool-call-start', index: 'x', delta: { message: { tool_calls: [] } } },
      { type: 'citation-start', delta: { message: { citations: 'x' } } },
    ];
    expect(streamed(...odd, words).generated.text).toBe('Half');
  });
});
