import { describe, expect, test } from 'vitest';
import type { Mode } from '../../../src/domain/channel/provider.js';
import { NotConvertible, type RequestOptions } from '../../../src/relay/contracts/protocol.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from './golden.js';

const messages = [{ role: 'user', content: 'hi' }];

interface Call {
  readonly type?: number;
  readonly mode?: Mode;
  readonly body?: JsonObject;
  readonly accept?: string;
  readonly channel?: object;
  readonly options?: Partial<RequestOptions>;
  readonly tiers?: readonly string[];
}

function ask(call: Call) {
  const { type = 1, mode = 'chat', body = {}, accept } = call;
  const provider = providerOfType(type);
  const channel = { ...plainChannel, baseUrl: 'https://upstream.example', ...call.channel, type };
  const caller = { ...callerOf(mode, { model: 'm', messages, ...body }, '', accept ?? null), tiers: call.tiers ?? [] };
  const model = String(caller.body.model);
  return provider.protocol.request({ provider, channel, caller, model, options: { ...usualOptions, ...call.options } });
}

const bodyOf = (call: Call): JsonObject => JSON.parse(wordsOf(ask(call).content));

describe('the usage in a stream', () => {
  test.each([1, 3, 17, 35, 39, 45, 48])('is always requested of type %i', (type) => {
    const { stream_options } = bodyOf({ type, body: { stream: true }, channel: { other: '2024-12-01' } });
    expect(stream_options).toEqual({ include_usage: true });
  });

  test.each([4, 6, 8, 19, 20, 22, 25, 26, 27, 31, 40, 42, 43, 46, 47])('is never requested of type %i', (type) => {
    const body = { stream: true, stream_options: { include_usage: true } };
    expect(bodyOf({ type, body })).not.toHaveProperty('stream_options');
  });

  test('is requested only for callers that request it, if the operator sets so', () => {
    const unforced = { forceUsage: false };
    expect(bodyOf({ body: { stream: true }, options: unforced })).not.toHaveProperty('stream_options');
    const asked = { stream: true, stream_options: { include_usage: true, include_obfuscation: false } };
    expect(bodyOf({ body: asked, options: unforced }).stream_options).toEqual(asked.stream_options);
  });

  test('is never requested outside a stream', () => {
    expect(bodyOf({ body: { stream_options: { include_usage: true } } })).not.toHaveProperty('stream_options');
  });
});

describe('an OpenAI reasoning model', () => {
  const sampled = { temperature: 1, top_p: 0.5, logprobs: true, presence_penalty: 1, frequency_penalty: 1 };

  test.each(['o1', 'o3-mini', 'o4-mini', 'gpt-5', 'gpt-5-mini', 'gpt-5.4-pro'])(
    '%s takes no sampling parameters',
    (model) => {
      const body = bodyOf({ body: { model, ...sampled, max_tokens: 9 } });
      expect(Object.keys(body).sort()).toEqual(['max_completion_tokens', 'messages', 'model']);
    },
  );

  test.each(['gpt-4o', 'gpt-5-chat-latest', 'gpt-5.1-chat-latest', 'chatgpt-4o-latest', 'gpt-oss-120b'])(
    '%s takes all sampling parameters',
    (model) => {
      expect(bodyOf({ body: { model, ...sampled, max_tokens: 9 } })).toEqual({
        model,
        messages,
        ...sampled,
        max_tokens: 9,
      });
    },
  );

  test('from 5.1 on takes sampling parameters when it does not reason', () => {
    const body = bodyOf({ body: { model: 'gpt-5.1', reasoning_effort: 'none', ...sampled } });
    expect(body).toMatchObject({ temperature: 1, top_p: 0.5, logprobs: true });
    expect(body).not.toHaveProperty('presence_penalty');
  });

  test('gets its first instructions as a developer message', () => {
    const outcome = (model: string) =>
      bodyOf({ body: { model, messages: [{ role: 'system', content: 'x' }, ...messages] } }).messages;
    expect(outcome('o3')).toEqual([{ role: 'developer', content: 'x' }, ...messages]);
    expect(outcome('o1-mini')).toEqual([{ role: 'user', content: 'x' }, ...messages]);
    expect(outcome('gpt-4o')).toEqual([{ role: 'system', content: 'x' }, ...messages]);
  });

  test.each([
    [1, 'o3-mini-low', 'o3-mini', 'low'],
    [8, 'gpt-5-high', 'gpt-5', 'high'],
    [48, 'grok-3-mini-fast-beta-high', 'grok-3-mini-fast-beta', 'high'],
    [1, 'gpt-4o-high', 'gpt-4o-high', null],
    [48, 'grok-4-low', 'grok-4-low', null],
  ])('of type %i has the effort in %s', (type, model, sent, effort) => {
    const { content, ...rest } = ask({ type, body: { model } });
    expect(rest).toMatchObject({ model: sent, reasoningEffort: effort });
    expect(JSON.parse(wordsOf(content))).toMatchObject({ model: sent, ...(effort && { reasoning_effort: effort }) });
  });

  test('keeps the larger limit that the caller gave under the newer name', () => {
    expect(bodyOf({ body: { model: 'o3', max_tokens: 5, max_completion_tokens: 7 } }).max_completion_tokens).toBe(7);
  });
});

describe('an output limit', () => {
  const limited = { max_completion_tokens: 7 };

  test.each([1, 3, 6, 8, 20, 45, 48])('is sent to type %i under its newer name, which that type supports', (type) => {
    const body = bodyOf({ type, body: limited, channel: { other: '2024-12-01' } });
    expect(body).toMatchObject(limited);
    expect(body).not.toHaveProperty('max_tokens');
  });

  test.each([17, 22, 25, 26, 27, 31, 35, 39, 40, 42, 43, 46, 47])(
    'is sent to type %i under its older name, because the newer one has no effect there',
    (type) => {
      const body = bodyOf({ type, body: limited, channel: { other: 'account' } });
      expect(body).toMatchObject({ max_tokens: 7 });
      expect(body).not.toHaveProperty('max_completion_tokens');
    },
  );

  test('reaches a provider’s own interface, and is kept in pass-through', () => {
    const native = { type: 39, mode: 'completions', channel: { other: 'account' } } as const;
    expect(bodyOf({ ...native, body: { prompt: 'a', ...limited } }).max_tokens).toBe(7);
    expect(bodyOf({ type: 43, body: limited, options: { passThrough: true } }).max_tokens).toBe(7);
  });
});

describe('the requested effort for models with a thinking budget (type 17)', () => {
  const sent = (body: JsonObject, more: Partial<Call> = {}): JsonObject => {
    const {
      model: _model,
      messages: _messages,
      stream: _stream,
      stream_options: _options,
      ...rest
    } = bodyOf({
      type: 17,
      body: { stream: true, ...body },
      ...more,
    });
    return rest;
  };

  test.each([
    ['low', { enable_thinking: true, thinking_budget: 1280 }],
    ['medium', { enable_thinking: true, thinking_budget: 2048 }],
    ['high', { enable_thinking: true, thinking_budget: 4096 }],
    ['xhigh', { enable_thinking: true }],
    ['minimal', { enable_thinking: false }],
    ['none', { enable_thinking: false }],
    ['whatever', { reasoning_effort: 'whatever' }],
  ])('%s', (reasoning_effort, outcome) => {
    expect(sent({ model: 'qwen-plus', reasoning_effort })).toEqual(outcome);
  });

  test('is a budget alone where the model always thinks, and is omitted where it has no budget or never thinks', () => {
    const reasoning_effort = 'low';
    expect(sent({ model: 'qwen3-next-80b-a3b-thinking', reasoning_effort })).toEqual({ thinking_budget: 1280 });
    expect(sent({ model: 'qwq-plus', reasoning_effort })).toEqual({});
    expect(sent({ model: 'qwen3-coder-plus', reasoning_effort })).toEqual({});
  });

  test('leaves the vendor’s own parameters of the request unchanged', () => {
    const own = { enable_thinking: true, thinking_budget: 99 };
    expect(sent({ model: 'qwen-plus', reasoning_effort: 'high', ...own })).toEqual(own);
    expect(sent({ model: 'qwen-plus', reasoning_effort: 'high', enable_thinking: false })).toEqual({
      enable_thinking: false,
    });
  });

  test('enables thinking for no open-weight model outside a stream, which it would refuse', () => {
    expect(sent({ model: 'qwen3-32b', reasoning_effort: 'high', stream: false })).toMatchObject({
      enable_thinking: false,
    });
  });

  test('is passed on unchanged in pass-through', () => {
    const passing = { options: { passThrough: true } };
    expect(sent({ model: 'qwen-plus', reasoning_effort: 'high' }, passing)).toEqual({ reasoning_effort: 'high' });
  });

  test('is logged as the caller requested it', () => {
    const call = { type: 17, body: { model: 'qwen-plus', stream: true, reasoning_effort: 'high' } };
    expect(ask(call).reasoningEffort).toBe('high');
  });
});

describe('the header that identifies a site (type 20)', () => {
  test('is the address of the operator’s site, and the name of this program', () => {
    const { headers } = ask({ type: 20 });
    expect(headers).toMatchObject({ 'http-referer': 'https://gateway.example', 'x-title': 'Tallygate' });
  });
  test('has no address where the operator has set none', () => {
    const { headers } = ask({ type: 20, options: { siteAddress: '' } });
    expect(Object.keys(headers)).not.toContain('http-referer');
  });
});

describe('a conversation with Perplexity', () => {
  const sentAs = (messages: JsonObject[]) => bodyOf({ type: 27, body: { messages } }).messages;
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };

  test('has user and assistant in turn behind its instructions, with all that was said', () => {
    expect(
      sentAs([
        { role: 'developer', content: 'Be brief.' },
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Here is a page.' },
        { role: 'user', content: 'What is it about?' },
        { role: 'assistant', content: 'Ledgers' },
        { role: 'assistant', content: 'and books.' },
        { role: 'system', content: 'Now in French.' },
        { role: 'user', content: [{ type: 'text', text: 'And this?' }, image] },
      ]),
    ).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Here is a page.\n\nWhat is it about?' },
      { role: 'assistant', content: 'Ledgers\n\nand books.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-instruction>\nNow in French.\n</system-instruction>' },
          { type: 'text', text: 'And this?' },
          image,
        ],
      },
    ]);
  });

  test('begins with a user, and is sent as it is where nothing is to be joined', () => {
    const answer = { role: 'assistant', content: 'Hello.' };
    const question = { role: 'user', content: 'Hi.' };
    expect(sentAs([answer, question])).toEqual([{ role: 'user', content: '...' }, answer, question]);
    expect(sentAs([question, answer, question])).toEqual([question, answer, question]);
  });

  test('is refused with tools by name, as it would be answered without them', () => {
    const tools = [{ type: 'function', function: { name: 'look' } }];
    expect(() => bodyOf({ type: 27, body: { tools } })).toThrow(
      expect.objectContaining({ fault: 'caller', message: expect.stringContaining('tools') }),
    );
    expect(bodyOf({ type: 27, body: { tools: [] } })).not.toHaveProperty('tools');
  });
});

describe('the upstream cost of a call is the priced one', () => {
  const expensive = { models: ['openai/o1-pro'], route: 'fallback', fallbacks: ['o1-pro'], service_tier: 'priority' };

  test.each([1, 8, 20])('for type %i: a caller cannot name other models or a more expensive rate', (type) => {
    for (const passThrough of [false, true])
      expect(bodyOf({ type, body: expensive, options: { passThrough } })).toEqual({ model: 'm', messages });
  });

  test('and a standard or cheaper rate may be requested', () => {
    for (const service_tier of ['auto', 'default', 'flex'])
      expect(bodyOf({ body: { service_tier } }).service_tier).toBe(service_tier);
  });

  test('and a more expensive rate may be requested if it has a price', () => {
    const sent = ask({ body: { service_tier: 'priority' }, tiers: ['priority'] });
    expect(JSON.parse(wordsOf(sent.content))).toMatchObject({ service_tier: 'priority' });
    expect(sent.service).toBe('asked');
  });

  test('and an operator may set what a caller may not', () => {
    expect(bodyOf({ type: 20, channel: { paramOverride: expensive } })).toMatchObject(expensive);
  });
});

describe('the outgoing request', () => {
  test('takes the channel’s members last, in place of others', () => {
    const channel = { paramOverride: { temperature: 0, messages: [], extra: { a: 1 } } };
    expect(bodyOf({ body: { temperature: 1 }, channel })).toEqual({
      model: 'm',
      messages: [],
      temperature: 0,
      extra: { a: 1 },
    });
  });

  test('keeps what the caller accepts', () => {
    expect(ask({ accept: 'application/json; q=1' }).headers.accept).toBe('application/json; q=1');
    expect(ask({ body: { stream: true } }).headers.accept).toBe('text/event-stream');
  });

  test('in pass-through takes no edits and no override, except for the mapped model', () => {
    const provider = providerOfType(1);
    const channel = { ...plainChannel, paramOverride: { temperature: 0 } };
    const body = { model: 'o3-high', messages, max_tokens: 5, vendor: 1 };
    const passing = { ...usualOptions, passThrough: true };
    const sent = provider.protocol.request({
      provider,
      channel,
      caller: callerOf('chat', body),
      model: 'o3',
      options: passing,
    });
    expect(JSON.parse(wordsOf(sent.content))).toEqual({ ...body, model: 'o3' });
  });

  test.each([
    ['a channel without an address', 'channel', { type: 3, channel: { baseUrl: '' } }],
    ['a channel without an account', 'channel', { type: 39 }],
    ['an endpoint the provider has not', 'caller', { type: 27, mode: 'embeddings' }],
    ['token ids for a provider of texts', 'caller', { type: 4, mode: 'embeddings', body: { input: [1, 2] } }],
    ['nesting without end', 'caller', { body: { x: JSON.parse(`${'['.repeat(99_999)}${']'.repeat(99_999)}`) } }],
  ] as const)('is impossible for %s, and the error is attributed to the %s', (_reason, fault, call) => {
    let thrown: unknown;
    try {
      ask(call as Call);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(NotConvertible);
    expect(thrown).toMatchObject({ fault });
  });
});
