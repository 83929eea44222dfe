import { describe, expect, test } from 'vitest';
import { claudeSettings } from '../../../../src/application/options/claude-settings.js';
import type { CallerRequest } from '../../../../src/relay/contracts/protocol.js';
import { messages } from '../../../../src/relay/dialects/anthropic/endpoints/messages.js';
import { generateContent } from '../../../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { responsesInChatCaller } from '../../../../src/relay/dialects/openai/responses-in-chat/dialect.js';
import { responsesInChat } from '../../../../src/relay/dialects/openai/responses-in-chat/to-neutral.js';
import { isList, isObject, type JsonObject, type JsonValue } from '../../../../src/relay/json/json.js';
import { markedForCache } from '../../../../src/relay/protocols/anthropic/cache-marks.js';
import { neutralOf } from '../../../../src/relay/protocols/neutral-of.js';
import { wordsOf } from '../../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions, usualSwitches } from '../../providers/golden.js';

/* Which ends of a prompt are marked for Anthropic's cache. */

const model = 'claude-sonnet-4-5';

interface Asked {
  readonly type?: number;
  readonly model?: string;
  readonly promptTokens?: number;
  readonly saves?: boolean;
  readonly switchedOn?: boolean;
  readonly passThrough?: boolean;
  readonly override?: JsonObject;
}

function sent(
  caller: CallerRequest,
  { type = 14, promptTokens = 5_000, saves = true, ...more }: Asked = {},
): JsonObject {
  const { switchedOn: cachesPrompts = true, passThrough = false, override = null } = more;
  const provider = providerOfType(type);
  const claude = claudeSettings('{"default":8192}', '{}', { ...usualSwitches, cachesPrompts });
  const request = provider.protocol.request({
    provider,
    channel: { ...plainChannel, ...(type === 33 && { key: 'key|us-east-1' }), paramOverride: override },
    caller: { ...caller, promptTokens, savesByCache: () => saves, maxOutput: 64_000 },
    model: more.model ?? model,
    options: { ...usualOptions, claude, passThrough },
  });
  return JSON.parse(wordsOf(request.content)) as JsonObject;
}

/** The places of all marks. */
function marksIn(value: JsonValue | undefined, path = ''): string[] {
  if (isList(value)) return value.flatMap((one, at) => marksIn(one, `${path}[${at}]`));
  if (!isObject(value)) return [];
  const own = value.cache_control === undefined ? [] : [`${path} ${JSON.stringify(value.cache_control)}`];
  return [...own, ...Object.entries(value).flatMap(([name, inner]) => marksIn(inner, path ? `${path}.${name}` : name))];
}
const ephemeral = (path: string): string => `${path} {"type":"ephemeral"}`;

const tool = (name: string): JsonObject => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const call: JsonObject = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
const instructions: JsonObject = { role: 'system', content: 'Keep the ledger.' };
const opening: JsonObject[] = [instructions, { role: 'user', content: 'What is in it?' }];
const toolRound: JsonObject[] = [
  ...opening,
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_1', content: 'Nothing.' },
];
const chat = (body: JsonObject): CallerRequest =>
  callerOf('chat', { model, max_tokens: 100, tools: [tool('look'), tool('write')], ...body });

const all = ['messages[0].content[0]', 'messages[2].content[0]', 'system[0]', 'tools[1]'].map(ephemeral);

describe('a conversation for Anthropic', () => {
  test('is marked at the end of its tools, instructions, and last two turns of the user', () => {
    const body = sent(chat({ messages: toolRound }));
    expect(marksIn(body).sort()).toEqual(all);
    expect(body.system).toEqual([{ type: 'text', text: 'Keep the ledger.', cache_control: { type: 'ephemeral' } }]);
  });

  test('has four marks at most, however many turns there are', () => {
    const turns = Array.from(
      { length: 40 },
      (_, at): JsonObject => ({ role: at % 2 ? 'assistant' : 'user', content: `${at}` }),
    );
    expect(marksIn(sent(chat({ messages: [instructions, ...turns, { role: 'user', content: 'So?' }] })))).toHaveLength(
      4,
    );
  });

  test('is the same but for its marks', () => {
    const withoutMarks = (body: JsonObject) =>
      JSON.stringify(body).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
    const blocks = {
      messages: toolRound.map(({ content, ...one }) => ({
        ...one,
        content: content === null ? null : [{ type: 'text', text: content }],
      })),
    };
    const plain = sent(chat(blocks), { switchedOn: false });
    expect(withoutMarks(sent(chat(blocks)))).toBe(
      JSON.stringify({
        ...plain,
        system: [{ type: 'text', text: plain.system }],
        messages: plain.messages as JsonObject[],
      }),
    );
  });

  test('is marked for callers of Responses and of Gemini’s dialect as well, and at Bedrock', () => {
    const response: JsonObject = {
      model,
      instructions: 'Keep the ledger.',
      input: [
        { role: 'user', content: 'What is in it?' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Nothing.' }] },
        { role: 'user', content: 'Look again.' },
      ],
    };
    const asResponse = {
      ...callerOf('chat', response),
      dialect: responsesInChatCaller,
      neutral: neutralOf({ mode: 'chat', toNeutral: responsesInChat }, response),
    };
    const google: JsonObject = {
      contents: ['user', 'model', 'user'].map((role) => ({ role, parts: [{ text: role }] })),
      systemInstruction: { parts: [{ text: 'Keep the ledger.' }] },
    };
    const asGoogle = {
      ...callerOf('chat', google),
      dialect: generateContent.dialect,
      neutral: neutralOf(generateContent, google),
    };
    for (const body of [sent(asResponse), sent(asGoogle), sent(chat({ messages: toolRound, tools: [] }), { type: 33 })])
      expect(marksIn(body).sort()).toEqual(all.slice(0, 3));
  });
});

describe('a single question', () => {
  test('is not marked, since no other call begins with it', () =>
    expect(marksIn(sent(chat({ messages: opening })))).toEqual([]));

  test('with a key for caches has its tools and instructions marked, and not its own words', () =>
    expect(marksIn(sent(chat({ messages: opening, prompt_cache_key: 'team' }))).sort()).toEqual(all.slice(2)));
});

describe('the last block that takes a mark is marked', () => {
  const asked = (body: JsonObject): JsonObject => markedForCache(body, model, {}, 5_000);
  const turn = (...content: JsonObject[]): JsonObject => ({
    messages: [
      { role: 'assistant', content: 'x' },
      { role: 'user', content },
    ],
  });
  const text: JsonObject = { type: 'text', text: 'What is in it?' };

  test.each<[string, JsonObject]>([
    ['an empty text', { type: 'text', text: '' }],
    ['a blank text', { type: 'text', text: ' \n' }],
    ['thinking', { type: 'thinking', thinking: 'Hm.', signature: 's' }],
    ['thinking that is sealed', { type: 'redacted_thinking', data: 'd' }],
  ])('before %s', (_, block) => {
    expect(marksIn(asked(turn(text, block, block)))).toEqual([ephemeral('messages[1].content[0]')]);
    expect(marksIn(asked(turn(block)))).toEqual([]);
    expect(marksIn(asked({ ...turn(text), system: [text, block] }))).toContain(ephemeral('system[0]'));
  });

  test('before tools that are loaded later, and none of tools that all are', () => {
    const later = { name: 'later', input_schema: {}, defer_loading: true };
    const now = { name: 'now', input_schema: {}, defer_loading: false };
    expect(marksIn(asked({ ...turn(text), tools: [now, later, later] }))).toContain(ephemeral('tools[0]'));
    expect(marksIn(asked({ ...turn(text), tools: [later] }))).toEqual([ephemeral('messages[1].content[0]')]);
  });

  test('in a prompt of blanks alone nothing is marked', () => {
    const blank = {
      messages: [
        { role: 'assistant', content: 'x' },
        { role: 'user', content: ' ' },
      ],
      system: ' ',
    };
    expect(asked(blank)).toEqual(blank);
  });
});

describe('nothing is marked', () => {
  test.each<[string, Asked, JsonObject]>([
    ['in a prompt that is too short for the model', { promptTokens: 1_023 }, {}],
    ['where the option is off', { switchedOn: false }, {}],
    ['where cached input costs what input does', { saves: false }, {}],
    ['where bodies go as they came', { passThrough: true }, {}],
    ['for a model that takes no marks', { model: 'claude-3-haiku-20240307' }, {}],
    ['for a model that is not Anthropic’s', { model: 'MiniMax-M3' }, {}],
    ['where the caller says that it marks by itself', {}, { prompt_cache_options: { mode: 'explicit' } }],
  ])('%s', (_, asked, members) => expect(marksIn(sent(chat({ messages: toolRound, ...members }), asked))).toEqual([]));

  test('beside the marks of the caller', () => {
    const marked = { type: 'text', text: 'What is in it?', cache_control: { type: 'ephemeral', ttl: '1h' } };
    const body = sent(chat({ messages: [instructions, { role: 'user', content: [marked] }, ...toolRound.slice(2)] }));
    expect(marksIn(body)).toEqual(['messages[0].content[0] {"type":"ephemeral","ttl":"1h"}']);
  });

  test('beside the marks of the operator', () =>
    expect(
      marksIn(sent(chat({ messages: toolRound }), { override: { cache_control: { type: 'ephemeral' } } })),
    ).toEqual([ephemeral('')]));

  test('for callers of Anthropic’s own dialect, who have words for it', () => {
    const body = {
      model,
      max_tokens: 100,
      messages: ['user', 'assistant', 'user'].map((role) => ({ role, content: role })),
    };
    const caller = { ...callerOf('chat', body), dialect: messages.dialect, neutral: neutralOf(messages, body) };
    expect(marksIn(sent(caller))).toEqual([]);
  });
});
