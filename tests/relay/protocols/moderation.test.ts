import { describe, expect, test } from 'vitest';
import { chatModerations, moderations } from '../../../src/relay/dialects/openai/endpoints/moderations.js';
import type { JsonObject, JsonValue } from '../../../src/relay/json/json.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/* What upstreams answer to inputs that are to be judged, as they may, and as they may not. */

const openAi = providerOfType(1);
const mistral = providerOfType(42);
const info = { callId: 'call-1', model: 'm', createdAt: 1_764_330_000 };
const part = (text: string): JsonObject => ({ type: 'text', text });
const picture: JsonObject = { type: 'image_url', image_url: { url: 'https://pictures.example/cat.webp' } };

function answer(input: JsonValue, reported: JsonObject) {
  const caller = callerOf('moderation', { model: 'm', input });
  const received = { headers: {}, status: 200, body: Buffer.from(JSON.stringify(reported)) };
  return openAi.protocol.answer({ provider: openAi, channel: plainChannel, caller, info, ...received });
}
const judged = { flagged: false, categories: {} };

describe('judgements of inputs', () => {
  test.each<[string, JsonValue, JsonValue]>([
    ['one for a text', 'a', [judged]],
    ['as many as there are texts', ['a', 'b'], [judged, judged]],
    ['one for all parts', [part('a'), picture], [judged]],
    ['one for each part', [part('a'), part('b')], [judged, judged]],
  ])('are an answer where there is %s', (_, input, results) => {
    const answered = answer(input, { id: 'm', results });
    expect(answered).toMatchObject({ ok: true, untouched: true, usage: null });
  });

  test.each<[string, JsonValue, JsonValue]>([
    ['too few', ['a', 'b'], [judged]],
    ['too many', 'a', [judged, judged]],
    ['missing', [part('a')], []],
    ['texts', 'a', ['fine']],
    ['without a judgement in them', 'a', [{}]],
    ['with a text as judgement', 'a', [{ flagged: 'no' }]],
  ])('that are %s cannot be read', (_, input, results) =>
    expect(answer(input, { results })).toMatchObject({
      ok: false,
      error: { message: 'the upstream did not judge every input' },
    }),
  );

  test('say that an input is flagged where one of its categories is, and nothing else does', () => {
    const answered = answer(['a', 'b', 'c'], {
      results: [
        { categories: { pii: true } },
        { categories: { pii: null } },
        { flagged: false, categories: { pii: true } },
      ],
    });
    expect(answered.ok && answered.body.results).toEqual([
      { flagged: true, categories: { pii: true } },
      { flagged: false, categories: { pii: null } },
      { flagged: false, categories: { pii: true } },
    ]);
  });
});

test('a picture that Mistral is to judge is refused by its name', () => {
  const caller = callerOf('moderation', { model: 'm', input: [part('a'), picture] });
  const ask = () =>
    mistral.protocol.request({ provider: mistral, channel: plainChannel, caller, model: 'm', options: usualOptions });
  expect(ask).toThrow('input[1] must be a text: this provider judges no pictures');
});

describe('a conversation to be judged', () => {
  const said = (role: string, content: JsonValue): JsonObject => ({ role, content });
  const conversation = [said('user', 'Hello'), said('assistant', [part('I hate'), part('you')])];
  const sent = (provider: typeof openAi, input: JsonValue, baseUrl = '') =>
    provider.protocol.request({
      provider,
      channel: { ...plainChannel, baseUrl },
      caller: callerOf('moderation', { model: 'm', input }),
      model: 'm',
      options: usualOptions,
    });

  test.each<[string, JsonValue, string]>([
    ['one', conversation, 'chat/moderations'],
    ['several', [conversation, conversation], 'chat/moderations'],
    ['no conversation', ['a', 'b'], 'moderations'],
    ['no conversation, in parts', [part('a')], 'moderations'],
  ])('goes to its address at Mistral: %s', (_, input, path) => {
    expect(sent(mistral, input).url).toBe(`https://api.mistral.ai/v1/${path}`);
  });

  test('is sent to Mistral unchanged', () => {
    const { content } = sent(mistral, conversation);
    expect(content).toMatchObject({ kind: 'json' });
    expect(JSON.parse(wordsOf(content))).toEqual({ model: 'm', input: conversation });
  });

  test('is refused by name at a provider that judges texts and pictures alone', () => {
    expect(() => sent(openAi, conversation)).toThrow('input: this provider judges texts and pictures');
  });

  test.each<[string, JsonValue, number]>([
    ['one', conversation, 1],
    ['two', [conversation, conversation], 2],
  ])('has as many judgements as there are: %s', (_, input, count) => {
    expect(answer(input, { results: Array.from({ length: count }, () => judged) })).toMatchObject({ ok: true });
    expect(answer(input, { results: Array.from({ length: count + 1 }, () => judged) })).toMatchObject({ ok: false });
  });

  test('is counted and filtered by all of its words', () => {
    const body = { model: 'm', input: [conversation] };
    expect(moderations.promptTexts(body)).toEqual(['Hello', 'I hate', 'you']);
    const counted = (input: JsonValue) =>
      moderations.demand({ body: { input }, bytes: 1_000, model: 'm', names: new Set(['m']), upload: null }).prompt;
    expect(counted(conversation).expected).toBeGreaterThan(counted(['Hello', 'I hate', 'you']).expected);
  });

  test.each<[string, JsonValue]>([
    ['input[0].role', [said('robot', 'a')]],
    ['input[1].content', [said('user', 'a'), said('assistant', null)]],
    ['input[0].content', [said('user', [picture])]],
    ['input[0].tool_calls', [{ ...said('assistant', 'a'), tool_calls: [] }]],
    ['input[1]', [said('user', 'a'), 'b']],
    ['input[1]', [conversation, []]],
    ['input[1][0].role', [conversation, [said('', 'a')]]],
    ['input', Array.from({ length: 2_049 }, () => said('user', 'a'))],
  ])('is refused for its %s', (param, input) => {
    expect(moderations.invalid({ model: 'm', input }, null)).toMatchObject({ param });
  });

  test('is all that the address of its own takes', () => {
    expect(chatModerations.invalid({ input: conversation }, null)).toBeNull();
    expect(chatModerations.invalid({ input: 'a' }, null)).toMatchObject({ param: 'input' });
  });
});
