import { describe, expect, test } from 'vitest';
import type { ChannelView } from '../../src/application/ports/storage-ports.js';
import { type CallerRequest, NotConvertible } from '../../src/relay/contracts/protocol.js';
import { chat } from '../../src/relay/dialects/openai/endpoints/chat.js';
import { responses } from '../../src/relay/dialects/openai/endpoints/responses.js';
import { responsesInChatCaller } from '../../src/relay/dialects/openai/responses-in-chat/dialect.js';
import { responsesInChat } from '../../src/relay/dialects/openai/responses-in-chat/to-neutral.js';
import type { JsonObject } from '../../src/relay/json/json.js';
import { toolCallsOf } from '../../src/relay/metering/tool-calls.js';
import { channelParser } from '../../src/relay/pipeline/channels/channel-settings.js';
import { bodiesAsked } from '../../src/relay/pipeline/own-tools.js';
import { neutralOf } from '../../src/relay/protocols/neutral-of.js';
import { providerOf } from '../../src/relay/providers/registry.js';
import { wordsOf } from '../../src/relay/upstream/request-content.js';
import { serviceAccountDocument } from '../support/upstreams/vertex-upstream.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from './providers/golden.js';

/* A search of the web that callers of OpenAI's interfaces ask for, at providers of other wires. */

const claude = 'claude-sonnet-4-5';
const google = 'gemini-3-pro-preview';

const byChat = (body: JsonObject): CallerRequest =>
  callerOf('chat', { messages: [{ role: 'user', content: 'Is it raining in Höfn?' }], max_tokens: 100, ...body });

function byResponses(given: JsonObject): CallerRequest {
  const body = { input: 'Is it raining in Höfn?', ...given };
  const neutral = neutralOf({ mode: 'chat', toNeutral: responsesInChat }, body);
  return { ...callerOf('chat', body), dialect: responsesInChatCaller, neutral };
}

function toolsSent(type: number, model: string, caller: CallerRequest): unknown {
  const provider = providerOfType(type);
  const keys: Readonly<Record<number, string>> = {
    33: 'key|us-east-1',
    41: serviceAccountDocument('https://tokens.example/'),
  };
  const key = keys[type] ?? plainChannel.key;
  const asked = {
    provider,
    channel: { ...plainChannel, key, ...(type === 41 && { other: 'us-east5' }) },
    caller: { ...caller, maxOutput: 64_000 },
    model,
  };
  const { content } = provider.protocol.request({ ...asked, options: usualOptions });
  return (JSON.parse(wordsOf(content)) as JsonObject).tools;
}

function refusal(type: number, model: string, caller: CallerRequest): string {
  try {
    return `sent: ${JSON.stringify(toolsSent(type, model, caller))}`;
  } catch (error) {
    if (error instanceof NotConvertible && error.fault === 'caller') return error.message;
    throw error;
  }
}

const place = { city: 'Höfn', country: 'IS', timezone: 'Atlantic/Reykjavik' };
const ours = { type: 'web_search_20250305', name: 'web_search', max_uses: 20 };
const weather = { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } };

describe('a search at Anthropic', () => {
  test.each<[string, CallerRequest, JsonObject]>([
    ['by the member of chat', byChat({ web_search_options: {} }), ours],
    [
      'from where its user is',
      byChat({
        web_search_options: { user_location: { type: 'approximate', approximate: place }, search_context_size: 'low' },
      }),
      { ...ours, user_location: { type: 'approximate', ...place } },
    ],
    ['by a tool of chat', byChat({ tools: [{ type: 'web_search_preview' }] }), ours],
    [
      'by a tool of chat in Anthropic’s words',
      byChat({ tools: [{ ...ours, max_uses: 2, blocked_domains: ['a.example'] }] }),
      { ...ours, max_uses: 2, blocked_domains: ['a.example'] },
    ],
    [
      'by a tool of Responses, with domains',
      byResponses({
        tools: [
          {
            type: 'web_search',
            filters: { allowed_domains: ['vedur.is'] },
            user_location: { type: 'approximate', ...place },
          },
        ],
      }),
      { ...ours, allowed_domains: ['vedur.is'], user_location: { type: 'approximate', ...place } },
    ],
    [
      'within the calls that Responses allows',
      byResponses({ tools: [{ type: 'web_search' }], max_tool_calls: 3 }),
      { ...ours, max_uses: 3 },
    ],
    [
      'within its own bound, where Responses allows more calls',
      byResponses({ tools: [{ type: 'web_search', max_uses: 2 }], max_tool_calls: 3 }),
      { ...ours, max_uses: 2 },
    ],
    [
      'without what is null',
      byChat({ tools: [{ type: 'web_search', max_uses: null, filters: null, user_location: null }] }),
      ours,
    ],
  ])('is in the request %s', (_, caller, tool) => expect(toolsSent(14, claude, caller)).toEqual([tool]));

  test('is the last of the tools, behind the functions', () =>
    expect(toolsSent(14, claude, byResponses({ tools: [{ type: 'web_search' }, weather] }))).toMatchObject([
      { name: 'weather' },
      ours,
    ]));

  test('is in the request to Vertex AI in the same words', () =>
    expect(toolsSent(41, claude, byChat({ web_search_options: {} }))).toEqual([ours]));

  test.each<[string, CallerRequest]>([
    ['must not go out to the web', byResponses({ tools: [{ type: 'web_search', external_web_access: false }] })],
    ['may not be called once', byResponses({ tools: [{ type: 'web_search' }], max_tool_calls: 0 })],
    [
      'is not among the allowed tools',
      byResponses({
        tools: [{ type: 'web_search' }, weather],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'weather' }] },
      }),
    ],
  ])('is left out where it %s', (_, caller) =>
    expect(JSON.stringify(toolsSent(14, claude, caller) ?? [])).not.toContain('web_search'),
  );
});

describe('a search at Google', () => {
  test.each<[string, CallerRequest]>([
    ['the member of chat', byChat({ web_search_options: {} })],
    ['a tool of chat', byChat({ tools: [{ type: 'web_search' }] })],
    ['a tool of Responses', byResponses({ tools: [{ type: 'web_search', search_context_size: 'high' }] })],
    [
      'a function by that name as well',
      byChat({ tools: [{ type: 'web_search' }, { type: 'function', function: { name: 'googleSearch' } }] }),
    ],
  ])('is in the request for %s', (_, caller) => {
    for (const type of [24, 41]) expect(toolsSent(type, google, caller)).toEqual([{ googleSearch: {} }]);
  });
});

describe('a search that cannot be put to a provider is refused by name', () => {
  test.each<[string, number, string, CallerRequest, string]>([
    [
      'domains at Google',
      24,
      google,
      byChat({ tools: [{ type: 'web_search', filters: { allowed_domains: ['a.example'] } }] }),
      'filters',
    ],
    [
      'a place at Google',
      24,
      google,
      byChat({ web_search_options: { user_location: { approximate: place } } }),
      'user_location',
    ],
    [
      'a bound at Google',
      24,
      google,
      byResponses({ tools: [{ type: 'web_search' }], max_tool_calls: 3 }),
      'max_tool_calls',
    ],
    [
      'domains of both kinds at Anthropic',
      14,
      claude,
      byChat({
        tools: [{ type: 'web_search', filters: { allowed_domains: ['a.example'], blocked_domains: ['b.example'] } }],
      }),
      'not both',
    ],
    [
      'domains that are no texts',
      14,
      claude,
      byChat({ tools: [{ type: 'web_search', filters: { allowed_domains: [7] } }] }),
      'allowed_domains must be a list',
    ],
    [
      'a member of a later release',
      14,
      claude,
      byChat({ tools: [{ type: 'web_search', search_content_types: ['image'] }] }),
      'search_content_types',
    ],
    [
      'a filter of a later release',
      14,
      claude,
      byChat({ tools: [{ type: 'web_search', filters: { newest: true } }] }),
      'filters.newest',
    ],
    ...[[], 'a.example', 7, true].map((filters): [string, number, string, CallerRequest, string] => [
      `filters that are ${JSON.stringify(filters)}`,
      ...([14, claude] as const),
      byChat({ tools: [{ type: 'web_search', filters }] }),
      'filters must be an object',
    ]),
    ...['Höfn', [place], 7].map((user_location): [string, number, string, CallerRequest, string] => [
      `a place that is ${JSON.stringify(user_location)}`,
      ...([14, claude] as const),
      byChat({ web_search_options: { user_location } }),
      'user_location must be an object',
    ]),
    [
      'a place whose parts are no object',
      14,
      claude,
      byChat({ web_search_options: { user_location: { type: 'approximate', approximate: 'Höfn' } } }),
      'user_location.approximate must be an object',
    ],
    [
      'a place of another type',
      14,
      claude,
      byChat({ web_search_options: { user_location: { type: 'exact', approximate: place } } }),
      'user_location.type must be approximate',
    ],
    ...['city', 'region', 'country', 'timezone'].flatMap((name): [string, number, string, CallerRequest, string][] => [
      [
        `a ${name} that is no text`,
        ...([14, claude] as const),
        byResponses({ tools: [{ type: 'web_search', user_location: { type: 'approximate', [name]: 7 } }] }),
        `user_location.${name} must be a text`,
      ],
      [
        `a ${name} that is no text, in chat`,
        ...([24, google] as const),
        byChat({ web_search_options: { user_location: { approximate: { [name]: [] } } } }),
        `user_location.approximate.${name} must be a text`,
      ],
    ]),
    [
      'a place by a member of a later release',
      14,
      claude,
      byChat({ web_search_options: { user_location: { approximate: { ...place, postcode: '780' } } } }),
      'user_location.approximate.postcode',
    ],
    ...['2', 0, 2.5, -1, [3], true, 2 ** 60].flatMap((max_uses): [string, number, string, CallerRequest, string][] => [
      [
        `a bound of ${JSON.stringify(max_uses)}`,
        ...([14, claude] as const),
        byChat({ tools: [{ type: 'web_search', max_uses }] }),
        'max_uses must be an integer from 1',
      ],
      [
        `a bound of ${JSON.stringify(max_uses)} beside the calls that Responses allows`,
        ...([14, claude] as const),
        byResponses({ tools: [{ type: 'web_search', max_uses }], max_tool_calls: 3 }),
        'max_uses must be an integer from 1',
      ],
    ]),
    ['two searches', 14, claude, byChat({ tools: [{ type: 'web_search' }], web_search_options: {} }), 'several'],
    [
      'a function of the same name',
      14,
      claude,
      byChat({ web_search_options: {}, tools: [{ type: 'function', function: { name: 'web_search' } }] }),
      'must not be named web_search',
    ],
    ['any search at Bedrock', 33, claude, byChat({ web_search_options: {} }), 'runs no searches'],
    [
      'a search by Responses at OpenAI’s chat',
      1,
      'gpt-4o',
      byResponses({ tools: [{ type: 'web_search' }] }),
      'tools: web_search',
    ],
  ])('%s', (_, type, model, caller, words) => expect(refusal(type, model, caller)).toContain(words));
});

describe('what a search may cost is reserved as the provider counts it', () => {
  const ports = { providerOf, parsedChannel: channelParser() };
  let ids = 0;
  const channel = (type: number, setting = ''): ChannelView =>
    ({ id: ++ids, settings: { type, modelMapping: '', baseUrl: '', setting } }) as unknown as ChannelView;
  const allowed = (endpoint: typeof chat, body: JsonObject, ...channels: ChannelView[]) =>
    toolCallsOf(bodiesAsked(ports, endpoint, { body, model: 'm' }, channels), new Set(['m']), 1, new Set());
  const chatOnly = '{"chat_only":true}';
  const search = { tools: [{ type: 'web_search' }] };

  test.each<[string, typeof chat, JsonObject, ChannelView[], JsonObject]>([
    ['by Anthropic', chat, { web_search_options: {} }, [channel(14)], { 'calls:web_search': 20 }],
    ['by Google', chat, { web_search_options: {} }, [channel(24)], { 'calls:google_search': 20 }],
    ['by Google, for Responses', responses, search, [channel(24)], { 'calls:google_search': 20 }],
    ['by Anthropic, for Responses', responses, search, [channel(14)], { 'calls:web_search': 20 }],
    [
      'by Anthropic, of a bound that is no number',
      chat,
      { web_search_options: { max_uses: [0] } },
      [channel(14)],
      { 'calls:web_search': 20 },
    ],
    [
      'by Anthropic, of a bound of none',
      responses,
      { tools: [{ type: 'web_search', max_uses: 0 }] },
      [channel(14)],
      { 'calls:web_search': 20 },
    ],
    ['by either', responses, search, [channel(24), channel(14)], { 'calls:google_search': 20, 'calls:web_search': 20 }],
    [
      'by none that must not go out',
      responses,
      { tools: [{ type: 'web_search', external_web_access: false }] },
      [channel(14), channel(24)],
      {},
    ],
    ['by none where OpenAI’s chat has none', responses, search, [channel(1, chatOnly)], {}],
    ['by an upstream with Responses', responses, search, [channel(1)], { 'calls:web_search': 20 }],
    [
      'beside code',
      chat,
      { tools: [{ type: 'web_search', max_uses: 2 }, { type: 'code_interpreter' }] },
      [channel(14)],
      { 'calls:web_search': 2, 'calls:code_interpreter': 1 },
    ],
  ])('%s', (_, endpoint, body, channels, calls) => expect(allowed(endpoint, body, ...channels)).toEqual(calls));
});
