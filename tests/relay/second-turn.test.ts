import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/relay/contracts/endpoint.js';
import type { CallerRequest } from '../../src/relay/contracts/protocol.js';
import { anthropicCaller } from '../../src/relay/dialects/anthropic/dialect.js';
import { messages as messagesEndpoint } from '../../src/relay/dialects/anthropic/endpoints/messages.js';
import { geminiCaller } from '../../src/relay/dialects/gemini/dialect.js';
import { generateContent } from '../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { responsesInChatCaller } from '../../src/relay/dialects/openai/responses-in-chat/dialect.js';
import { responsesInChat } from '../../src/relay/dialects/openai/responses-in-chat/to-neutral.js';
import { isObject, type JsonObject, objectsIn } from '../../src/relay/json/json.js';
import { asCallerTakes, writerFor } from '../../src/relay/protocols/caller-calls.js';
import { neutralOf } from '../../src/relay/protocols/neutral-of.js';
import { wordsOf } from '../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from './providers/golden.js';

/*
 * What crosses from one dialect into another and comes back with the next turn: ids, thinking, signatures, instructions.
 */

const gemini = 24;
const anthropic = 14;
const openAi = 1;

function callerOfDialect(endpoint: Endpoint, body: JsonObject): CallerRequest {
  const caller = callerOf('chat', body);
  const renamedTools = new Map<string, string>();
  return {
    ...caller,
    dialect: endpoint.dialect,
    body,
    neutral: neutralOf(endpoint, body, () => body, renamedTools),
    renamedTools,
  };
}

const sent = (type: number, caller: CallerRequest): JsonObject => {
  const provider = providerOfType(type);
  const key = type === 33 ? 'bedrock-api-key|us-east-1' : plainChannel.key;
  const channel = { ...plainChannel, key, baseUrl: 'https://upstream.example', type };
  const model = String(caller.body.model ?? 'm');
  return JSON.parse(
    wordsOf(provider.protocol.request({ provider, channel, caller, model, options: usualOptions }).content),
  );
};

const messagesTo = (type: number, body: JsonObject): JsonObject[] =>
  objectsIn(sent(type, callerOfDialect(messagesEndpoint, { model: 'm', max_tokens: 100, ...body })).messages);

const info = { callId: 'call-1', model: 'm', createdAt: 1 };

/** The content of a message as an SDK puts it together from the events of a stream. */
function streamed(deltas: readonly JsonObject[]): JsonObject[] {
  const writer = anthropicCaller.writer(callerOf('chat', { model: 'm' }), plainChannel, info);
  for (const delta of deltas) writer.write({ id: 'x', choices: [{ index: 0, delta, finish_reason: null }] }, 0);
  writer.write({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }, 0);
  const bytes = Buffer.concat([writer.take() ?? Buffer.alloc(0), writer.closing({ input: 1, output: 1 })]);
  const content: JsonObject[] = [];
  for (const [, data = ''] of bytes.toString('utf8').matchAll(/^data: (.*)$/gm)) {
    const event: JsonObject = JSON.parse(data);
    if (event.type === 'content_block_start' && isObject(event.content_block)) content.push({ ...event.content_block });
    const block = content.at(-1);
    if (event.type !== 'content_block_delta' || !isObject(event.delta) || block === undefined) continue;
    const { type, text, thinking, signature, partial_json: json } = event.delta;
    if (type === 'text_delta') block.text = `${block.text}${text}`;
    if (type === 'thinking_delta') block.thinking = `${block.thinking}${thinking}`;
    if (type === 'signature_delta') block.signature = signature ?? '';
    if (type === 'input_json_delta') block.json = `${block.json ?? ''}${json}`;
  }
  return content.map(({ json, ...block }) =>
    typeof json === 'string' && json !== '' ? { ...block, input: JSON.parse(json) } : block,
  );
}

const whole = (message: JsonObject): JsonObject[] => {
  const body = { id: 'x', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
  const answer = { body, received: Buffer.alloc(0), untouched: false, usage: null };
  const written = anthropicCaller.whole(answer, callerOf('chat', { model: 'm' }), plainChannel);
  return objectsIn(JSON.parse(written.toString('utf8')).content);
};

const call = (id: string, more: JsonObject = {}): JsonObject => ({
  index: 0,
  id,
  type: 'function',
  function: { name: 'read', arguments: '{"path":"a.txt"}' },
  ...more,
});

/** The conversation goes on with what Anthropic's client was shown, and the result of its call. */
const nextTurn = (content: JsonObject[]): JsonObject => ({
  messages: [
    { role: 'user', content: 'Read a.txt' },
    { role: 'assistant', content },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: content.find(({ type }) => type === 'tool_use')?.id ?? '', content: 'A' },
      ],
    },
  ],
});

const ways = [
  ['a stream', (message: JsonObject) => streamed([message])],
  ['a whole answer', whole],
] as const;

describe('ids of tool calls', () => {
  const history = (ids: readonly string[]): JsonObject => ({
    messages: [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'read', input: {} })) },
      { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: id })) },
    ],
  });

  test('of an Anthropic history are shortened to OpenAI’s limit, distinct and paired with their results', () => {
    const ids = [`toolu_${'a'.repeat(60)}`, `toolu_${'a'.repeat(61)}`, 'toolu_short'];
    const [, assistant, ...results] = messagesTo(openAi, history(ids));
    const received = objectsIn(assistant?.tool_calls).map(({ id }) => String(id));
    expect(new Set(received).size).toBe(3);
    for (const id of received) expect(id).toMatch(/^[\w-]{1,40}$/);
    expect(received[2]).toBe('toolu_short');
    expect(results.map(({ tool_call_id: id, content }) => [id, content])).toEqual(
      received.map((id, at) => [id, ids[at]]),
    );
  });

  test('of any form are valid for OpenAI and for Anthropic, distinct and paired, and the same in every turn', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 80 }), { minLength: 1, maxLength: 6 }), (ids) => {
        const calls = ids.map((id) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } }));
        const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'A' }));
        const body = {
          model: 'm',
          messages: [{ role: 'user', content: 'Go' }, { role: 'assistant', tool_calls: calls }, ...results],
        };
        const received = sent(anthropic, callerOf('chat', body));
        const [, asked, answered] = objectsIn(received.messages);
        const used = objectsIn(asked?.content).map(({ id }) => String(id));
        expect(objectsIn(answered?.content).map(({ tool_use_id: id }) => id)).toEqual(used);
        expect(new Set(used).size).toBe(ids.length);
        for (const id of used) expect(id).toMatch(/^[\w-]{1,64}$/);
        expect(sent(anthropic, callerOf('chat', body))).toEqual(received);
      }),
      { numRuns: 100 },
    );
  });

  test.each(ways)(
    'that Anthropic rejects are encoded for its clients in %s, and decoded in the next turn',
    (_, deliver) => {
      const content = deliver({ tool_calls: [call('functions.read:0')] });
      const [use] = content;
      expect(use?.id).toMatch(/^[\w-]{1,64}$/);
      const [, assistant, result] = messagesTo(openAi, nextTurn(content));
      expect(objectsIn(assistant?.tool_calls)[0]?.id).toBe('functions.read:0');
      expect(result?.tool_call_id).toBe('functions.read:0');
    },
  );
});

describe('reasoning from an upstream of OpenAI’s protocol', () => {
  test.each([openAi, 8, 20, 25, 40, 43, 45].flatMap((type) => ways.map(([way, deliver]) => ({ type, way, deliver }))))(
    'is sent back as reasoning_content to a channel of type $type, received in $way',
    ({ type, deliver }) => {
      const content = deliver({ reasoning_content: 'Let me see.', tool_calls: [call('call_1')] });
      const [, assistant] = messagesTo(type, nextTurn(content));
      expect(assistant).toMatchObject({ role: 'assistant', reasoning_content: 'Let me see.' });
      expect(assistant).not.toHaveProperty('reasoning');
    },
  );

  test.each(ways)('is sent back as reasoning where it came under that name in %s', (_, deliver) => {
    const content = deliver({ reasoning: 'Let me see.', tool_calls: [call('call_1')] });
    const [, assistant] = messagesTo(20, nextTurn(content));
    expect(assistant).toMatchObject({ role: 'assistant', reasoning: 'Let me see.' });
    expect(assistant).not.toHaveProperty('reasoning_content');
  });

  test('is not sent to models of OpenAI’s, which refuse it', () => {
    const content = whole({ reasoning_content: 'Let me see.', tool_calls: [call('call_1')] });
    const [, assistant] = messagesTo(openAi, { model: 'gpt-5.6', ...nextTurn(content) });
    expect(assistant).not.toHaveProperty('reasoning_content');
  });

  test('is omitted where Anthropic has signed it: that is for its own models', () => {
    const content = [
      { type: 'thinking', thinking: 'Let me see.', signature: 'EqQB' },
      { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} },
    ];
    expect(messagesTo(openAi, nextTurn(content))[1]).not.toHaveProperty('reasoning_content');
  });
});

/** What each dialect's clients send of an answer with the next turn, put together as their libraries do. */
const returned: Readonly<
  Record<'anthropic' | 'gemini' | 'responses', (message: JsonObject, model: string) => CallerRequest>
> = {
  anthropic: (message, model) =>
    callerOfDialect(messagesEndpoint, { model, max_tokens: 100, ...nextTurn(streamed([message])) }),
  gemini(message, model) {
    const answer = { id: 'x', model, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const bytes = geminiCaller.whole(
      { body: answer, received: Buffer.alloc(0), untouched: false, usage: null },
      callerOf('chat', { model }),
      plainChannel,
    );
    const [candidate] = objectsIn(JSON.parse(bytes.toString('utf8')).candidates);
    return callerOfDialect(generateContent, {
      model,
      contents: [
        { role: 'user', parts: [{ text: 'Read a.txt' }] },
        candidate?.content ?? {},
        { role: 'user', parts: [{ functionResponse: { id: 'call_1', name: 'read', response: { text: 'A' } } }] },
      ],
    });
  },
  responses(message, model) {
    const answer = { id: 'x', model, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const bytes = responsesInChatCaller.whole(
      { body: answer, received: Buffer.alloc(0), untouched: false, usage: null },
      { ...callerOf('chat', { model }), dialect: responsesInChatCaller },
      plainChannel,
    );
    const input = [
      { type: 'message', role: 'user', content: 'Read a.txt' },
      ...objectsIn(JSON.parse(bytes.toString('utf8')).output),
      { type: 'function_call_output', call_id: 'call_1', output: 'A' },
    ];
    const body = { model, input };
    const neutral = neutralOf({ mode: 'chat', toNeutral: responsesInChat }, body);
    return { ...callerOf('chat', body), dialect: responsesInChatCaller, neutral };
  },
};
const dialectsOfOthers = ['anthropic', 'gemini', 'responses'] as const;

/** As upstreams of OpenAI's family bring it. */
const brought = {
  signed: [
    { type: 'reasoning.text', text: 'Let me see.', signature: 'EqQBCkYIBxgC', format: 'anthropic-claude-v1', index: 0 },
  ],
  google: [{ type: 'reasoning.encrypted', data: 'c2lnbmVk', format: 'google-gemini-v1', id: 'call_1' }],
  xai: [{ type: 'reasoning.encrypted', data: 'c2VhbGVk', format: 'xai-responses-v1', id: 'rs_1' }],
} as const;

describe.each(dialectsOfOthers)('thinking that came in reasoning_details, with a client of %s', (dialect) => {
  const assistantSentTo = (type: number, model: string, message: JsonObject): JsonObject => {
    const { messages } = sent(type, returned[dialect](message, model));
    return objectsIn(messages).find(({ role }) => role === 'assistant') ?? {};
  };
  const answered = (details: readonly JsonObject[], thought = 'Let me see.'): JsonObject => ({
    ...{ reasoning_content: thought, reasoning_details: [...details], tool_calls: [call('call_1')] },
  });

  test.each([8, 20])('and was signed by a model of Anthropic’s returns signed to an upstream of type %i', (type) => {
    const assistant = assistantSentTo(type, 'anthropic/claude-sonnet-4.5', answered(brought.signed));
    expect(objectsIn(assistant.reasoning_details)).toMatchObject([
      { type: 'reasoning.text', text: 'Let me see.', signature: 'EqQBCkYIBxgC', format: 'anthropic-claude-v1' },
    ]);
    expect(assistant).not.toHaveProperty('reasoning_content');
  });

  test('and was signed by a model of Anthropic’s goes to no other model', () => {
    const assistant = assistantSentTo(20, 'deepseek/deepseek-r1', answered(brought.signed));
    expect(assistant).not.toHaveProperty('reasoning_details');
  });

  test.each(['google', 'xai'] as const)('and has another format returns unchanged: %s', (kind) => {
    const assistant = assistantSentTo(20, 'some/model', answered(brought[kind]));
    expect(objectsIn(assistant.reasoning_details)).toMatchObject(brought[kind]);
  });

  test.each([3, 8, 20, 25, 40, 45, 47, 48])('returns as plain words to an upstream of type %i', (type) => {
    expect(assistantSentTo(type, 'some-model', answered([]))).toMatchObject({ reasoning_content: 'Let me see.' });
  });

  test('returns to Mistral as a part of the content, as it takes no other members', () => {
    const assistant = assistantSentTo(42, 'magistral-medium-latest', { ...answered([]), content: 'Reading.' });
    expect(assistant.content).toEqual([
      { type: 'thinking', thinking: [{ type: 'text', text: 'Let me see.' }] },
      { type: 'text', text: 'Reading.' },
    ]);
    expect(assistant).not.toHaveProperty('reasoning_content');
  });

  test('returns to models at Amazon that have signed it', () => {
    const body = sent(33, returned[dialect](answered(brought.signed), 'amazon.nova-2-lite-v1:0'));
    const blocks = objectsIn(body.messages).flatMap(({ content }) => objectsIn(content));
    expect(blocks.find(({ reasoningContent }) => reasoningContent !== undefined)).toEqual({
      reasoningContent: { reasoningText: { text: 'Let me see.', signature: 'EqQBCkYIBxgC' } },
    });
  });
});

describe('the members of a tool call that its upstream requires in the next turn', () => {
  const extra = { extra_content: { google: { thought_signature: 'c2lnbmVk' } } };

  test.each(ways)('return on the same tool call from an Anthropic client that received it in %s', (_, deliver) => {
    const content = deliver({ tool_calls: [call('call_1', extra)] });
    expect(content.at(-1)).toMatchObject({ type: 'tool_use', id: 'call_1' });
    const [, assistant] = messagesTo(openAi, nextTurn(content));
    expect(objectsIn(assistant?.tool_calls)[0]).toMatchObject({ id: 'call_1', ...extra });
  });

  test('return to Gemini as the signature of the tool call', () => {
    const content = whole({ tool_calls: [call('call_1', extra)] });
    const body = sent(
      gemini,
      callerOfDialect(messagesEndpoint, { model: 'gemini-3-pro', max_tokens: 9, ...nextTurn(content) }),
    );
    const parts = objectsIn(body.contents).flatMap(({ parts }) => objectsIn(parts));
    expect(parts.find(({ functionCall }) => functionCall !== undefined)).toMatchObject({
      thoughtSignature: 'c2lnbmVk',
    });
  });

  test('return from a Gemini client as well', () => {
    const answer = {
      id: 'x',
      model: 'm',
      choices: [{ index: 0, message: { tool_calls: [call('call_1', extra)] }, finish_reason: 'stop' }],
    };
    const received = geminiCaller.whole(
      { body: answer, received: Buffer.alloc(0), untouched: false, usage: null },
      callerOf('chat', { model: 'm' }),
      plainChannel,
    );
    const [candidate] = objectsIn(JSON.parse(received.toString('utf8')).candidates);
    const body = {
      model: 'm',
      contents: [
        { role: 'user', parts: [{ text: 'Go' }] },
        candidate?.content ?? {},
        { role: 'user', parts: [{ functionResponse: { id: 'call_1', name: 'read', response: {} } }] },
      ],
    };
    const [, assistant] = objectsIn(sent(openAi, callerOfDialect(generateContent, body)).messages);
    expect(objectsIn(assistant?.tool_calls)[0]).toMatchObject({ id: 'call_1', ...extra });
  });

  test('are not sent to models of OpenAI’s, which refuse them', () => {
    const content = whole({ tool_calls: [call('call_1', extra)] });
    const [, assistant] = messagesTo(openAi, { model: 'gpt-5.6', ...nextTurn(content) });
    expect(objectsIn(assistant?.tool_calls)[0]).not.toHaveProperty('extra_content');
  });

  test.each(ways)('return in %s together with reasoning that only its maker can read', (_, deliver) => {
    const detail = { type: 'reasoning.encrypted', data: 'b3BhcXVl', format: 'openai-responses-v1' };
    const content = deliver({ reasoning_details: [detail], tool_calls: [call('call_1')] });
    const [, assistant] = messagesTo(20, nextTurn(content));
    expect(assistant?.reasoning_details).toEqual([detail]);
  });
});

describe('the blocks that the gateway made for Anthropic’s clients', () => {
  test.each(ways)('are omitted when the next turn goes to Anthropic itself, received in %s', (_, deliver) => {
    const extra = { extra_content: { google: { thought_signature: 'c2lnbmVk' } } };
    const made = deliver({ reasoning: 'Hm.', content: 'Reading.', tool_calls: [call('call_1', extra)] });
    expect(made.map(({ type }) => type)).toEqual(['thinking', 'text', 'redacted_thinking', 'tool_use']);
    const [, assistant] = messagesTo(anthropic, nextTurn(made));
    expect(objectsIn(assistant?.content).map(({ type }) => type)).toEqual(['text', 'tool_use']);
  });

  test('are omitted with their message where it contains nothing else', () => {
    const body = {
      messages: [
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: '' }] },
        { role: 'user', content: 'And?' },
      ],
    };
    expect(messagesTo(anthropic, body).map(({ role }) => role)).toEqual(['user', 'user']);
  });

  test('are distinguished from Anthropic’s own, which are kept', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' },
      { type: 'redacted_thinking', data: 'EmwKAhgB' },
      { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} },
    ];
    expect(messagesTo(anthropic, nextTurn(content))[1]?.content).toEqual(content);
  });
});

describe('instructions in the middle of a conversation', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'Two' },
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Three' },
  ];

  test('keep their position when converted to Gemini, so that the cached beginning is unchanged', () => {
    const body = sent(gemini, callerOf('chat', { model: 'm', messages }));
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }] });
    expect(objectsIn(body.contents).map(({ role, parts }) => [role, objectsIn(parts).map(({ text }) => text)])).toEqual(
      [
        ['user', ['One']],
        ['model', ['Two']],
        ['user', ['<system-instruction>\nBe kind.\n</system-instruction>', 'Three']],
      ],
    );
  });

  test('keep their position when converted to Anthropic', () => {
    const body = sent(anthropic, callerOf('chat', { model: 'm', messages }));
    expect(body.system).toBe('Be brief.');
    expect(objectsIn(body.messages).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'One'],
      ['assistant', 'Two'],
      [
        'user',
        [
          { type: 'text', text: '<system-instruction>\nBe kind.\n</system-instruction>' },
          { type: 'text', text: 'Three' },
        ],
      ],
    ]);
  });

  test('keep their role when converted from Anthropic’s dialect to OpenAI', () => {
    expect(messagesTo(openAi, { messages: messages.slice(1) }).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'system',
      'user',
    ]);
  });
});

describe('tools that are loaded by a tool search', () => {
  const tool = (name: string, more: JsonObject = {}): JsonObject => ({
    name,
    input_schema: { type: 'object' },
    ...more,
  });
  const deferred = { defer_loading: true };
  const offered = (body: JsonObject): unknown[] =>
    objectsIn(sent(openAi, callerOfDialect(messagesEndpoint, { model: 'm', max_tokens: 9, ...body })).tools).map(
      ({ function: named }) => (isObject(named) ? named.name : null),
    );
  const found = [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: {} }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'tool_reference', tool_name: 'ExitPlanMode' }],
        },
      ],
    },
  ];
  const tools = [tool('ToolSearch'), tool('ExitPlanMode', deferred), tool('Browse', deferred)];

  test('are omitted until a result refers to them', () => {
    expect(offered({ tools, messages: [{ role: 'user', content: 'Go' }] })).toEqual(['ToolSearch']);
    expect(offered({ tools, messages: found })).toEqual(['ToolSearch', 'ExitPlanMode']);
  });

  test('are all offered where Anthropic’s own search was to find them', () => {
    const searching = [{ type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }, ...tools];
    expect(offered({ tools: searching, messages: [{ role: 'user', content: 'Go' }] })).toEqual([
      'ToolSearch',
      'ExitPlanMode',
      'Browse',
    ]);
  });

  test.each([openAi, gemini])('are named in the result that refers to them, for a channel of type %i', (type) => {
    const body = sent(type, callerOfDialect(messagesEndpoint, { model: 'm', max_tokens: 9, tools, messages: found }));
    expect(JSON.stringify(body.messages ?? body.contents)).toContain('ExitPlanMode');
  });

  test('have the results of their search converted to text', () => {
    const block = {
      type: 'search_result',
      title: 'Title',
      source: 'https://example.com/a',
      content: [{ type: 'text', text: 'Said there.' }],
    };
    const [message] = messagesTo(openAi, { messages: [{ role: 'user', content: [block] }] });
    expect(message?.content).toBe('Title\nhttps://example.com/a\nSaid there.');
  });
});

describe('the name of a user', () => {
  const named = (id: string): unknown =>
    sent(
      openAi,
      callerOfDialect(messagesEndpoint, {
        model: 'm',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Go' }],
        metadata: { user_id: id },
      }),
    ).user;

  test('is sent to another provider where every provider accepts it', () => {
    expect(named('u'.repeat(64))).toBe('u'.repeat(64));
  });
  test('is omitted where it is longer, as that of coding agents', () => {
    expect(named(`user_${'a'.repeat(64)}_account__session_${'b'.repeat(36)}`)).toBeUndefined();
  });
});

describe('tool names', () => {
  const long = `mcp__a_server_with_a_long_name__${'x'.repeat(60)}`;
  const other = `${long}y`;
  const body = {
    model: 'm',
    max_tokens: 9,
    tools: [long, other, 'read'].map((name) => ({ name, input_schema: { type: 'object' } })),
    tool_choice: { type: 'tool', name: other },
    messages: [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: other, input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'A' }] },
    ],
  };

  test('that OpenAI rejects are replaced by valid ones, distinct and the same in every position', () => {
    const received = sent(openAi, callerOfDialect(messagesEndpoint, body));
    const names = objectsIn(received.tools).map(({ function: named }) => (isObject(named) ? String(named.name) : ''));
    for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(new Set(names).size).toBe(3);
    expect(names[2]).toBe('read');
    expect(received.tool_choice).toEqual({ type: 'function', function: { name: names[1] } });
    const [, assistant] = objectsIn(received.messages);
    expect(objectsIn(assistant?.tool_calls)[0]?.function).toMatchObject({ name: names[1] });
  });

  test.each([
    ['a stream', true],
    ['a whole answer', false],
  ])('return to the client as its own in %s', (_, stream) => {
    const caller = callerOfDialect(messagesEndpoint, body);
    const [, fit = ''] = objectsIn(sent(openAi, caller).tools).map(({ function: named }) =>
      isObject(named) ? String(named.name) : '',
    );
    const choice = { index: 0, finish_reason: 'tool_calls' };
    const called = { ...call('call_1'), function: { name: fit, arguments: '{}' } };
    if (stream) {
      const writer = writerFor(caller, plainChannel, info);
      writer.write({ id: 'x', choices: [{ ...choice, delta: { tool_calls: [called] } }] }, 0);
      expect(Buffer.concat([writer.take() ?? Buffer.alloc(0), writer.closing({})]).toString()).toContain(
        `"name":"${other}"`,
      );
    } else {
      const received = { choices: [{ ...choice, message: { tool_calls: [called] } }] };
      asCallerTakes(received, caller, plainChannel);
      expect(JSON.stringify(received)).toContain(`"name":"${other}"`);
    }
  });
});
