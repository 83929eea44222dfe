import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/relay/json/json.js';
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
