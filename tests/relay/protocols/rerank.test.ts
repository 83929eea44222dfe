import { describe, expect, test } from 'vitest';
import { NotConvertible } from '../../../src/relay/contracts/protocol.js';
import { cohereCaller } from '../../../src/relay/dialects/cohere/dialect.js';
import type { JsonObject, JsonValue } from '../../../src/relay/json/json.js';
import { rerankUsage } from '../../../src/relay/protocols/ranking.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/* What upstreams answer to a ranking, as they may, and as they may not. */

const jina = providerOfType(38);
const info = { callId: 'call-1', model: 'm', createdAt: 1_764_330_000 };
const asked = { model: 'm', query: 'a', documents: ['one', { text: 'two' }, 'three'] };

function answer(results: JsonValue, more: JsonObject = {}, body: JsonObject = asked) {
  const caller = callerOf('rerank', body);
  const received = { headers: {}, status: 200, body: Buffer.from(JSON.stringify({ results, ...more })) };
  return jina.protocol.answer({ provider: jina, channel: plainChannel, caller, info, ...received });
}

function ranked(results: JsonValue, body: JsonObject = asked): JsonValue | undefined {
  const answered = answer(results, {}, body);
  return answered.ok ? answered.body.results : answered.error.message;
}

const result = (index: JsonValue, relevance_score: JsonValue = 0.5): JsonObject => ({ index, relevance_score });

describe('a ranking', () => {
  test('keeps the order of its upstream, and where that sends more than were requested has the best of them', () => {
    const results = [result(2, 0.1), result(0, -7), result(1, 1e300)];
    expect(ranked(results)).toEqual(results);
    expect(ranked(results, { ...asked, top_n: 2 })).toEqual([results[2], results[0]]);
    expect(ranked(results, { ...asked, top_n: 9 })).toEqual(results);
  });

  test.each<[string, JsonValue, JsonValue | undefined, string | undefined]>([
    ['an object, where the caller left it open', { text: 'TWO' }, undefined, 'two'],
    ['a text', 'TWO', undefined, 'two'],
    ['null', null, undefined, undefined],
    ['null, where the caller requested it', null, true, 'two'],
    ['an object, where the caller refused it', { text: 'two' }, false, undefined],
  ])('has the text of the request for a document that came as %s', (_, document, returned, text) => {
    const body = returned === undefined ? asked : { ...asked, return_documents: returned };
    const expected = text === undefined ? result(1) : { ...result(1), document: { text } };
    expect(ranked([{ ...result(1), document }], body)).toEqual([expected]);
  });

  test.each<[string, JsonValue]>([
    ['beyond the documents', [result(3)]],
    ['below the first', [result(-1)]],
    ['between two documents', [result(0.5)]],
    ['as a text', [result('1')]],
    ['that is missing', [{ relevance_score: 1 }]],
    ['of a prototype', [result('length')]],
    ['twice', [result(1), result(1)]],
    ['without a score', [result(0), { index: 1 }]],
    ['with a score that is a text', [result(1, '0.5')]],
    ['in no object', [[1, 0.5]]],
  ])('with an index %s cannot be read', (_, results) =>
    expect(ranked(results)).toBe('the upstream ranked documents that it was not sent, or without a score'),
  );

  test('with a score beyond all numbers cannot be read', () => {
    const caller = callerOf('rerank', asked);
    const body = Buffer.from('{"results":[{"index":0,"relevance_score":1e999}],"usage":{"total_tokens":5}}');
    const received = { headers: {}, status: 200, body };
    const answered = jina.protocol.answer({ provider: jina, channel: plainChannel, caller, info, ...received });
    expect(answered).toMatchObject({ ok: false, costUnknown: true });
  });

  test.each<[string, JsonValue | undefined]>([
    ['no results', []],
    ['null', null],
    ['a text', 'none'],
  ])('that is %s is no answer', (_, results) =>
    expect(ranked(results ?? null)).toBe('the upstream answered without an answer in it'),
  );
});

describe('the usage of a ranking', () => {
  test.each<[string, JsonObject, JsonObject | null]>([
    ['a sum alone', { usage: { total_tokens: 9 } }, { input: 9 }],
    ['a sum above the prompt', { usage: { total_tokens: 9, prompt_tokens: 4 } }, { input: 9 }],
    ['tokens of the answer', { tokens: { input_tokens: 7, output_tokens: 1 } }, { input: 7 }],
    [
      'tokens of its meta',
      { meta: { tokens: { input_tokens: 7 }, billed_units: { search_units: 2 } } },
      { input: 7, searchUnits: 2 },
    ],
    ['billed tokens', { meta: { tokens: null, billed_units: { input_tokens: 3 } } }, { input: 3 }],
    ['a part of a search unit', { meta: { billed_units: { search_units: 1.5 } } }, { searchUnits: 2 }],
    ['search units of a router', { usage: { search_units: 1, total_tokens: 150 } }, { input: 150, searchUnits: 1 }],
    ['nothing', { meta: null, usage: { total_tokens: 0 } }, null],
    ['nonsense', { usage: [1], meta: 'x', tokens: { input_tokens: '7' } }, null],
  ])('is read where %s is reported', (_, reported, usage) => expect(rerankUsage(reported)).toEqual(usage));
});

describe('a request to Cohere', () => {
  const cohere = providerOfType(34);
  const sent = (body: JsonObject): JsonObject => {
    const caller = callerOf('rerank', { ...asked, ...body });
    const channel = plainChannel;
    return JSON.parse(
      wordsOf(
        cohere.protocol.request({ provider: cohere, channel, caller, model: 'm', options: usualOptions }).content,
      ),
    );
  };

  test('has texts for documents, and no member that Cohere lacks', () => {
    expect(sent({ top_n: 2, return_documents: true, user: 'x' })).toEqual({
      ...asked,
      documents: ['one', 'two', 'three'],
      top_n: 2,
    });
  });

  test.each(['max_chunks_per_doc', 'overlap_tokens', 'instruct'])('is refused by name with %s', (name) => {
    const ask = () => sent({ [name]: 5 });
    expect(ask).toThrow(NotConvertible);
    expect(ask).toThrow(`${name} cannot be carried to this provider`);
  });
});

describe('a client of Cohere', () => {
  const body = { id: 'r', object: 'list', model: 'm', results: [result(0)] };
  const read = (bytes: Buffer): JsonObject => JSON.parse(bytes.toString('utf8'));

  test('gets results and what is charged in Cohere’s words', () => {
    const usage = { input: 12, searchUnits: 3 };
    const whole = { body, received: Buffer.from('{}'), untouched: false, usage };
    const bytes = cohereCaller.whole(whole, callerOf('rerank', asked), plainChannel);
    const meta = { api_version: { version: '2', is_experimental: false } };
    expect(read(bytes)).toEqual({
      ...{ id: 'r', results: [result(0)] },
      meta: { ...meta, billed_units: { search_units: 3 }, tokens: { input_tokens: 12, output_tokens: 0 } },
    });
    expect(read(cohereCaller.withUsage(bytes, { searchUnits: 1 })).meta).toEqual({
      ...meta,
      billed_units: { search_units: 1 },
    });
  });
});
