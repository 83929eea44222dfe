import { describe, expect, test } from 'vitest';
import { ChannelId, UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { Endpoint } from '../../../src/relay/contracts/endpoint.js';
import { messages } from '../../../src/relay/dialects/anthropic/endpoints/messages.js';
import { generateContent } from '../../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { chat } from '../../../src/relay/dialects/openai/endpoints/chat.js';
import { embeddings } from '../../../src/relay/dialects/openai/endpoints/embeddings.js';
import { responses } from '../../../src/relay/dialects/openai/endpoints/responses.js';
import type { JsonObject, JsonValue } from '../../../src/relay/json/json.js';
import { LeftChannels } from '../../../src/relay/pipeline/channels/left-channels.js';
import { affinityOf } from '../../../src/relay/pipeline/channels/session-affinity.js';

interface Asked {
  readonly endpoint?: Endpoint;
  readonly headers?: Record<string, string>;
  readonly body?: JsonObject;
  readonly user?: number;
  readonly promptTokens?: number;
}

const conversation = ({ endpoint = chat, headers = {}, body = {}, user = 7, promptTokens = 5_000 }: Asked) => {
  const found = affinityOf({ endpoint, headers, body, user: UserId(user), promptTokens });
  return found && `${found.high}.${found.low}`;
};

const user = (text: JsonValue): JsonObject => ({ role: 'user', content: text });
const turns = (text: string): JsonObject => ({
  messages: [{ role: 'system', content: 'You are terse.' }, user(text), { role: 'assistant', content: 'Yes.' }],
});

describe('calls belong to one conversation', () => {
  test.each(['x-claude-code-session-id', 'session-id', 'session_id', 'x-session-affinity', 'x-session-id'])(
    'by the session header %s, whatever they ask',
    (header) => {
      const [one, again, other] = ['s1', 's1', 's2'].map((id, index) =>
        conversation({ headers: { [header]: id }, body: turns(`turn ${index}`), promptTokens: 3 }),
      );
      expect(one).not.toBeNull();
      expect([again === one, other === one]).toEqual([true, false]);
    },
  );

  test.each([
    ['prompt_cache_key', (id: string): JsonObject => ({ prompt_cache_key: id })],
    ['metadata.user_id', (id: string): JsonObject => ({ metadata: { user_id: id } })],
  ])('by %s, where no header names the session', (_name, naming) => {
    const [one, again, other] = ['c1', 'c1', 'c2'].map((id, index) =>
      conversation({ body: { ...turns(`turn ${index}`), ...naming(id) }, promptTokens: 3 }),
    );
    expect(one).not.toBeNull();
    expect([again === one, other === one]).toEqual([true, false]);
  });

  const beginnings: readonly (readonly [string, Endpoint, (first: string, later: JsonObject[]) => JsonObject])[] = [
    [
      'chat',
      chat,
      (first, later) => ({ messages: [{ role: 'developer', content: 'Be brief.' }, user(first), ...later] }),
    ],
    [
      'Messages',
      messages,
      (first, later) => ({ system: [{ type: 'text', text: 'Be brief.' }], messages: [user(first), ...later] }),
    ],
    [
      'Responses',
      responses,
      (first, later) => ({ instructions: 'Be brief.', input: [{ type: 'message', ...user(first) }, ...later] }),
    ],
    ['Responses with a text', responses, (first) => ({ instructions: 'Be brief.', input: first })],
    [
      'generateContent',
      generateContent,
      (first, later) => ({
        system_instruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: first }] }, ...later],
      }),
    ],
  ];
  test.each(beginnings)('by the beginning of the prompt where nothing names it: %s', (_name, endpoint, body) => {
    const one = conversation({ endpoint, body: body('Fix the test.', []) });
    expect(one).not.toBeNull();
    expect(conversation({ endpoint, body: body('Fix the test.', [user('Go on.')]) })).toBe(one);
    expect(conversation({ endpoint, body: body('Fix the build.', []) })).not.toBe(one);
  });

  test('although a mark for the cache moves on, and a client says of itself something else at each turn', () => {
    const turn = (attribution: string, mark: JsonObject): JsonObject => ({
      system: [
        { type: 'text', text: `x-anthropic-billing-header: ${attribution}` },
        { type: 'text', text: 'Be brief.' },
      ],
      messages: [user([{ type: 'text', text: 'Fix the test.', ...mark }])],
    });
    const one = conversation({ endpoint: messages, body: turn('cch=1;', { cache_control: { type: 'ephemeral' } }) });
    expect(conversation({ endpoint: messages, body: turn('cch=2;', {}) })).toBe(one);
  });
});

describe('calls belong to no common conversation', () => {
  test('when they are of two users, whatever both send', () => {
    for (const asked of [
      { headers: { 'session-id': 's1' } },
      { body: { prompt_cache_key: 'k' } },
      { body: turns('hi') },
    ])
      expect(conversation({ ...asked, user: 7 })).not.toBe(conversation({ ...asked, user: 8 }));
  });

  test('when a prompt that nothing names is too short for any cache', () => {
    expect(conversation({ body: turns('hi'), promptTokens: 1_023 })).toBeNull();
    expect(conversation({ body: turns('hi'), promptTokens: 1_024 })).not.toBeNull();
  });

  test('when they hold none', () => {
    expect(conversation({ endpoint: embeddings, headers: { 'session-id': 's1' }, body: { input: 'x' } })).toBeNull();
  });
});

test('finding a conversation looks at a bounded part of an id and of a beginning, whatever is sent', () => {
  const long = 'x'.repeat(2_000_000);
  const ids = [`${long}a`, `${long}b`].map((id) => conversation({ body: { prompt_cache_key: id } }));
  expect(ids[0]).toBe(ids[1]);
  let looked = 0;
  const counted = (list: readonly JsonValue[]): JsonValue =>
    new Proxy(list as JsonValue[], {
      get(target, name) {
        looked++;
        return Reflect.get(target, name);
      },
    });
  const many = counted(Array.from({ length: 1_000_000 }, () => []));
  for (const content of [many, counted(Array.from({ length: 1_000_000 }, () => 5)), [[[[{ parts: many }]]]]]) {
    looked = 0;
    expect(conversation({ body: { messages: [user(content)] } })).not.toBeNull();
    expect(looked).toBeGreaterThan(100);
    expect(looked).toBeLessThan(10_000);
  }
  const texts = [`${long}a`, `${long}b`].map((text) => conversation({ body: { messages: [user(text)] } }));
  expect(texts[0]).toBe(texts[1]);
  for (const odd of [null, 5, 'text', {}, [null], [5]] as JsonValue[])
    for (const endpoint of [chat, messages, responses, generateContent])
      expect(
        conversation({ endpoint, body: { messages: odd, input: odd, contents: odd, metadata: odd } }),
      ).not.toBeNull();
});

describe('channels that a conversation has left', () => {
  const one = { high: 1, low: 2 };
  const other = { high: 1, low: 3 };
  const at = (seconds: number) => Instant(seconds * 1000);

  test('are its own, for a minute after the last failure', () => {
    const left = new LeftChannels();
    left.add(one, ChannelId(4), at(10));
    left.add(one, ChannelId(5), at(20));
    expect([...left.by(one, at(79))]).toEqual([4, 5]);
    expect([...left.by(one, at(80)), ...left.by(other, at(20))]).toEqual([]);
    left.add(one, ChannelId(6), at(90));
    expect([...left.by(one, at(90))]).toEqual([6]);
  });

  test('are bounded, in channels and in conversations', () => {
    const left = new LeftChannels();
    for (let id = 1; id <= 100; id++) left.add(one, ChannelId(id), at(1));
    expect(left.by(one, at(1)).size).toBe(32);
    for (let low = 10; low < 6_000; low++) left.add({ high: 0, low }, ChannelId(1), at(1));
    expect(left.by(one, at(1)).size).toBe(0);
  });
});
