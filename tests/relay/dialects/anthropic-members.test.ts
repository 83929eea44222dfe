import { describe, expect, test } from 'vitest';
import { messages } from '../../../src/relay/dialects/anthropic/endpoints/messages.js';
import { isObject, type JsonObject, objectsIn } from '../../../src/relay/json/json.js';
import { keptUpstream } from '../../../src/relay/pipeline/kept/kept-upstream.js';
import { neutralOf } from '../../../src/relay/protocols/neutral-of.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/*
 * Every member of the request types of `@anthropic-ai/sdk` 1.14.0: to Anthropic it is carried, or refused by its name;
 * to another wire it is translated, refused by its name, or one of the hints that docs/relay.md lists.
 */

type Here = 'carried' | 'refused' | 'omitted';
type There = 'translated' | 'hint' | 'refused';
type Row = readonly [member: string, example: JsonObject[string], here: Here, there: There];

const question = { type: 'text', text: 'What is a ledger?' };
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const json = { type: 'json_schema', schema };
const definition = { name: 'added', input_schema: schema };
const addition = (tool: JsonObject) => ({ type: 'tool_addition', tool });

/** `MessageCreateParamsBase` of the beta interface, which has all members of the other. */
const ofRequest: readonly Row[] = [
  ['max_tokens', 7, 'carried', 'translated'],
  ['max_tokens', 0, 'carried', 'refused'],
  ['messages', [{ role: 'user', content: 'other words' }], 'carried', 'translated'],
  ['system', 'some instructions', 'carried', 'translated'],
  ['stop_sequences', ['stop here'], 'carried', 'translated'],
  ['stream', true, 'carried', 'translated'],
  ['tools', [definition], 'carried', 'translated'],
  ['output_format', json, 'carried', 'translated'],
  ['metadata', { user_id: 'u-1' }, 'carried', 'translated'],
  ['metadata', { user_id: 'u'.repeat(65) }, 'carried', 'hint'],
  ['thinking', { type: 'enabled', budget_tokens: 1_024 }, 'carried', 'translated'],
  ['thinking', { type: 'adaptive' }, 'carried', 'translated'],
  ['thinking', { type: 'disabled' }, 'carried', 'translated'],
  ['thinking', { type: 'between_tools' }, 'carried', 'translated'],
  ['thinking', { type: 'of_tomorrow' }, 'carried', 'refused'],
  ['cache_control', { type: 'ephemeral' }, 'carried', 'hint'],
  ['diagnostics', { previous_message_id: null }, 'carried', 'hint'],
  ['service_tier', 'standard_only', 'carried', 'hint'],
  ['speed', 'standard', 'carried', 'hint'],
  ['inference_geo', 'global', 'carried', 'hint'],
  ['context_management', { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }, 'carried', 'hint'],
  ['context_management', { edits: [{ type: 'clear_tool_uses_20250919' }] }, 'carried', 'hint'],
  ['context_management', { edits: [{ type: 'compact_20260112' }] }, 'carried', 'refused'],
  ['compaction', { type: 'summarize' }, 'carried', 'refused'],
  ['container', { skills: [{ type: 'anthropic', skill_id: 'pdf' }] }, 'carried', 'refused'],
  ['container', 'mine', 'refused', 'refused'],
  ['mcp_servers', [{ type: 'url', name: 's', url: 'https://mcp.example' }], 'carried', 'refused'],
  ['fallbacks', 'default', 'refused', 'refused'],
  ['fallback_credit_token', 'fct_1', 'refused', 'refused'],
  ['billing_policy', { type: 'billing_policy', bill_to: 'user_profile' }, 'refused', 'refused'],
  ['thread', { type: 'create' }, 'carried', 'refused'],
  ['thread', { type: 'continue', previous_message_id: 'msg_1' }, 'refused', 'refused'],
  ['of_tomorrow', true, 'carried', 'refused'],
];

/** With a tool beside it. */
const ofToolChoice: readonly Row[] = [
  ['tool_choice', { type: 'auto' }, 'carried', 'translated'],
  ['tool_choice', { type: 'any' }, 'carried', 'translated'],
  ['tool_choice', { type: 'none' }, 'carried', 'translated'],
  ['tool_choice', { type: 'tool', name: 'given' }, 'carried', 'translated'],
  ['tool_choice', { type: 'auto', disable_parallel_tool_use: true }, 'carried', 'translated'],
  ['tool_choice', { type: 'of_tomorrow' }, 'carried', 'refused'],
];

const ofOutput: readonly Row[] = [
  ...['low', 'medium', 'high', 'xhigh', 'max'].map((effort): Row => ['effort', effort, 'carried', 'translated']),
  ['format', json, 'carried', 'translated'],
  ['task_budget', { type: 'tokens', total: 20_000 }, 'carried', 'hint'],
  ['of_tomorrow', 1, 'carried', 'refused'],
];

const ofThinking: readonly Row[] = [
  ['display', 'summarized', 'carried', 'hint'],
  ['display', 'omitted', 'carried', 'hint'],
  ['display', 'updates', 'carried', 'hint'],
  ['block_binding', { prefix_mismatch_behavior: 'drop' }, 'carried', 'hint'],
  ['of_tomorrow', 1, 'carried', 'refused'],
];

const ofTool: readonly Row[] = [
  ['name', 'other', 'carried', 'translated'],
  ['description', 'what it does', 'carried', 'translated'],
  ['input_schema', { type: 'object' }, 'carried', 'translated'],
  ['type', 'custom', 'carried', 'hint'],
  ['type', 'memory_20250818', 'carried', 'translated'],
  ['cache_control', { type: 'ephemeral' }, 'carried', 'hint'],
  ['defer_loading', true, 'carried', 'translated'],
  ['strict', true, 'carried', 'hint'],
  ['eager_input_streaming', true, 'carried', 'hint'],
  ['input_examples', [{ a: 'b' }], 'carried', 'hint'],
  ['allowed_callers', ['direct', 'code_execution_20260521'], 'carried', 'hint'],
  ['allowed_callers', ['code_execution_20260521'], 'carried', 'refused'],
  ['of_tomorrow', 1, 'carried', 'refused'],
];

const ofSystemMessage: readonly Row[] = [
  ['content', 'later instructions', 'carried', 'translated'],
  ['content', [addition({ type: 'tool_definition', definition })], 'carried', 'translated'],
  ['content', [{ type: 'image', source: {} }], 'carried', 'refused'],
  ['clear_at', 'next_user_message', 'carried', 'translated'],
  ['clear_at', 'never', 'carried', 'hint'],
  ['output_config', { effort: 'low' }, 'carried', 'translated'],
  ['output_config', { of_tomorrow: 1 }, 'carried', 'refused'],
  ['of_tomorrow', 1, 'carried', 'refused'],
];

const picture = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' };
const text = (data: string) => ({ type: 'text', media_type: 'text/plain', data });

/** Blocks that stand in a turn of the user's: `ContentBlockParam` and what results of tools hold. */
const ofUser: readonly (readonly [block: JsonObject, rows: readonly Row[]])[] = [
  [
    question,
    [
      ['text', 'other words', 'carried', 'translated'],
      ['cache_control', { type: 'ephemeral' }, 'carried', 'hint'],
      ['citations', [], 'carried', 'hint'],
      ['of_tomorrow', 1, 'carried', 'refused'],
    ],
  ],
  [
    { type: 'image', source: picture },
    [
      ['source', { type: 'url', url: 'https://pictures.example/cat.png' }, 'carried', 'translated'],
      ['source', { type: 'file', file_id: 'file_1' }, 'refused', 'refused'],
      ['cache_control', { type: 'ephemeral' }, 'carried', 'hint'],
      ['transformations', { oversized_image: 'error' }, 'carried', 'hint'],
      ['of_tomorrow', 1, 'carried', 'refused'],
    ],
  ],
  [
    { type: 'document', source: pdf },
    [
      ['source', text('words'), 'carried', 'translated'],
      ['source', { type: 'content', content: 'words' }, 'carried', 'translated'],
      ['source', { type: 'file', file_id: 'file_1' }, 'refused', 'refused'],
      ['title', 'a title', 'carried', 'translated'],
      ['context', 'what it is about', 'carried', 'translated'],
      ['cache_control', { type: 'ephemeral' }, 'carried', 'hint'],
      ['citations', { enabled: true }, 'carried', 'hint'],
      ['of_tomorrow', 1, 'carried', 'refused'],
    ],
  ],
  [{ type: 'document', source: text('words') }, [['title', 'a title', 'carried', 'translated']]],
  [
    { type: 'search_result', source: 'https://pages.example', title: 'T', content: [question] },
    [
      ['title', 'another', 'carried', 'translated'],
      ['source', 'https://others.example', 'carried', 'translated'],
      ['content', [{ type: 'text', text: 'found' }], 'carried', 'translated'],
      ['cache_control', { type: 'ephemeral' }, 'carried', 'hint'],
      ['citations', { enabled: true }, 'carried', 'hint'],
      ['of_tomorrow', 1, 'carried', 'refused'],
    ],
  ],
  [
    { type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain' },
    [
      ['content', [{ type: 'image', source: picture }], 'carried', 'translated'],
      ['content', [{ type: 'browser_state', tabs: [] }], 'carried', 'refused'],
      ['tool_use_id', 'toolu_2', 'carried', 'translated'],
      ['is_error', true, 'carried', 'translated'],
      ['cache_control', { type: 'ephemeral' }, 'carried', 'hint'],
      ['toolset_name', 'browser', 'carried', 'hint'],
      ['of_tomorrow', 1, 'carried', 'refused'],
    ],
  ],
];

/** Blocks that stand in a turn of the assistant's. */
const ofAssistant: readonly (readonly [block: JsonObject, rows: readonly Row[]])[] = [
  [
    { type: 'tool_use', id: 'toolu_1', name: 'given', input: {} },
    [
      ['input', { a: 'b' }, 'carried', 'translated'],
      ['caller', { type: 'direct' }, 'carried', 'hint'],
      ['toolset_name', 'browser', 'carried', 'hint'],
      ['of_tomorrow', 1, 'carried', 'refused'],
    ],
  ],
  [
    { type: 'compaction', content: 'a summary' },
    [
      ['content', 'another', 'carried', 'translated'],
      ['tool_changes', [addition({ type: 'tool_definition', definition })], 'carried', 'translated'],
      ['signature', 's', 'carried', 'hint'],
      ['encrypted_content', 'e', 'carried', 'hint'],
      ['of_tomorrow', 1, 'carried', 'refused'],
    ],
  ],
  [{ type: 'compaction', content: null }, [['encrypted_content', 'e', 'carried', 'refused']]],
];

/** Types of blocks as a whole, in a turn of the assistant's and the user's. */
const blockTypes: readonly (readonly [block: JsonObject, assistant: There, user: There])[] = [
  [{ type: 'thinking', thinking: 't', signature: 's' }, 'translated', 'refused'],
  [{ type: 'redacted_thinking', data: 'd' }, 'translated', 'refused'],
  [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, 'hint', 'refused'],
  ...[
    'web_search',
    'web_fetch',
    'code_execution',
    'bash_code_execution',
    'text_editor_code_execution',
    'tool_search',
  ].map((tool) => [{ type: `${tool}_tool_result`, tool_use_id: 's', content: [] }, 'hint', 'refused'] as const),
  [{ type: 'advisor_tool_result', tool_use_id: 's', content: {} }, 'hint', 'refused'],
  [{ type: 'mcp_tool_use', id: 's', name: 'x', server_name: 's', input: {} }, 'hint', 'refused'],
  [{ type: 'mcp_tool_result', tool_use_id: 's', content: 'x' }, 'hint', 'refused'],
  [{ type: 'mcp_tool_listing', server_name: 's', tools: [] }, 'hint', 'refused'],
  [{ type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }, 'hint', 'refused'],
  [{ type: 'container_upload', file_id: 'file_1' }, 'refused', 'refused'],
  [{ type: 'document', source: pdf }, 'refused', 'translated'],
  [{ type: 'image', source: picture }, 'refused', 'translated'],
  [{ type: 'search_result', source: 's', title: 't', content: [question] }, 'refused', 'translated'],
  [addition({ type: 'tool_definition', definition }), 'translated', 'translated'],
  [addition({ type: 'tool_reference', name: 'later' }), 'translated', 'translated'],
  [addition({ type: 'mcp_tool_reference', server_name: 's', name: 'x' }), 'refused', 'refused'],
  [addition({ type: 'mcp_toolset_reference', server_name: 's' }), 'refused', 'refused'],
  [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'given' } }, 'translated', 'translated'],
  [{ type: 'of_tomorrow' }, 'refused', 'refused'],
];

const given: JsonObject = { name: 'given', description: 'd', input_schema: schema };
const later: JsonObject = { ...given, name: 'later', defer_loading: true };
const base: JsonObject = { model: 'm', max_tokens: 4_000, messages: [{ role: 'user', content: [question] }] };
const withTools: JsonObject = { ...base, tools: [given, later] };
const turn = (role: string, ...content: JsonObject[]): JsonObject => ({
  ...withTools,
  messages: [...objectsIn(base.messages), { role, content }, { role: 'user', content: 'and then?' }],
});
const thinking = { type: 'enabled', budget_tokens: 1_024 };

interface Case {
  readonly name: string;
  readonly before: JsonObject;
  readonly body: JsonObject;
  readonly here: Here;
  readonly there: There;
}

const cases = (where: string, rows: readonly Row[], made: (member: JsonObject) => JsonObject): Case[] =>
  rows.map(([member, example, here, there]) => {
    const name = `${where}.${member}: ${JSON.stringify(example).slice(0, 60)}`;
    return { name, before: made({}), body: made({ [member]: example }), here, there };
  });

const all: readonly Case[] = [
  ...cases('request', ofRequest, (member) => ({ ...base, ...member })),
  ...cases('request', ofToolChoice, (member) => ({ ...withTools, ...member })),
  ...cases('output_config', ofOutput, (member) => ({ ...base, output_config: member })),
  ...cases('thinking', ofThinking, (member) => ({ ...base, thinking: { ...thinking, ...member } })),
  ...cases('tools[]', ofTool, (member) => ({ ...base, tools: [{ ...given, ...member }] })),
  ...cases('system message', ofSystemMessage, (member) => ({
    ...turn('system'),
    messages: [
      ...objectsIn(base.messages),
      { role: 'system', content: 'be brief', ...member },
      ...objectsIn(base.messages),
    ],
  })),
  ...ofUser.flatMap(([block, rows]) =>
    cases(String(block.type), rows, (member) => turn('user', { ...block, ...member })),
  ),
  ...ofAssistant.flatMap(([block, rows]) =>
    cases(String(block.type), rows, (member) => turn('assistant', { ...block, ...member })),
  ),
  ...blockTypes.flatMap(([block, assistant, user]) =>
    (['assistant', 'user'] as const).map((role): Case => {
      const here = keptUpstream(turn(role, block)) === null ? 'carried' : 'refused';
      const name = `${role}: ${JSON.stringify(block).slice(0, 60)}`;
      return { name, before: turn(role), body: turn(role, block), here, there: role === 'user' ? user : assistant };
    }),
  ),
];

function requestTo(type: number, body: JsonObject): JsonObject {
  const provider = providerOfType(type);
  const caller = {
    ...callerOf('chat', body),
    neutral: neutralOf({ mode: 'chat', toNeutral: messages.toNeutral }, body),
    dialect: messages.dialect,
    maxOutput: body.max_tokens === 0 ? 0 : 64_000,
  };
  const { content } = provider.protocol.request({
    provider,
    channel: { ...plainChannel, key: type === 33 ? 'AKID|secret|us-east-1' : plainChannel.key },
    caller,
    model: type === 14 ? 'claude-opus-5' : 'gpt-6-sol',
    options: usualOptions,
  });
  const { model: _, ...sent } = JSON.parse(wordsOf(content)) as JsonObject;
  return sent;
}

/** What is refused, by the request's checks or on its way; null: nothing is. */
function refusal(type: number, body: JsonObject): string | null {
  const wrong = messages.invalid(body, null) ?? keptUpstream(messages.kept?.withoutNew?.(body) ?? body);
  if (wrong !== null) return wrong.message;
  try {
    requestTo(type, body);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** What a provider may keep in its cache, and whether texts come in one part or in many, is no other request. */
function neutral(body: JsonObject): string {
  const plain = (name: string, value: unknown) => {
    if (name === 'cache_control') return undefined;
    const parts = name === 'content' && Array.isArray(value) ? (value as JsonObject[]) : [];
    return parts.length > 0 && parts.every(({ type }) => type === 'text')
      ? parts.map((part) => part.text).join('\n')
      : value;
  };
  return JSON.stringify(messages.toNeutral?.(body), plain);
}

const deepest = (body: JsonObject): string[] =>
  Object.entries(body).flatMap(([name, value]) => (isObject(value) ? [name, ...deepest(value)] : [name]));

describe.each(all)('$name', ({ before, body, here, there }) => {
  test(`is ${here} to Anthropic`, () => {
    const refused = refusal(14, body);
    if (here === 'refused') expect(refused).toMatch(/^[\w.[\]]+/);
    else {
      expect(refused).toBeNull();
      const { model: _, ...asked } = body;
      expect(requestTo(14, body)).toEqual(asked);
    }
  });

  test(`is ${there === 'hint' ? 'omitted as a hint' : there} across`, () => {
    const refused = refusal(1, body);
    if (there === 'refused') {
      // By a name that stands in the request.
      const [name = ''] = /[a-z_]+(?=[^a-z_.[\]\d]|$)/.exec(refused ?? '') ?? [];
      expect(
        [...deepest(body), JSON.stringify(body)].some((one) => one.includes(name)),
        refused ?? 'not refused',
      ).toBe(true);
      expect(refused).not.toBeNull();
      return;
    }
    expect(refused).toBeNull();
    expect(neutral(body) !== neutral(before)).toBe(there === 'translated');
  });
});
