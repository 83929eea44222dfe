import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { promptTokens } from '../../../../src/domain/call/usage.js';
import type { CallerRequest } from '../../../../src/relay/contracts/protocol.js';
import { responses } from '../../../../src/relay/dialects/openai/endpoints/responses.js';
import { isList, isObject, type JsonObject, objectsIn, parseJson } from '../../../../src/relay/json/json.js';
import { wordsOf } from '../../../../src/relay/upstream/request-content.js';
import {
  callItem,
  codeItem,
  eventsOf,
  lastEventOf,
  messageItem,
  reportedUsage,
  responseOf,
  searchItem,
  streamOf,
} from '../../../support/upstreams/responses-answers.js';
import {
  byteByByte,
  callerOf,
  cutEverywhere,
  type Golden,
  plainChannel,
  play,
  providerOfType,
  usualOptions,
} from '../../providers/golden.js';

/* The Responses interface between its clients and upstreams that have it: requests, whole answers and streams. */

const text = 'Every charge can be proved.';
const body = { model: 'm', input: 'What is a ledger?' };

const callerWith = (asked: JsonObject, query = ''): CallerRequest => ({
  ...callerOf('responses', asked, query),
  dialect: responses.dialect,
});

const caseOf = (upstream: string, type = 1, stream = true): Golden => ({
  name: 'responses',
  provider: providerOfType(type),
  channel: plainChannel,
  caller: callerWith({ ...body, stream }),
  upstreamModel: 'm',
  options: usualOptions,
  info: { callId: 'call-1', model: 'm', createdAt: 1_760_000_000 },
  sent: { url: '', headers: {}, body: {} },
  upstream: Buffer.from(upstream),
  stream,
  answer: null,
  expected: {},
});

const whole = (reported: JsonObject | string, type = 1) => {
  const { provider, channel, caller, info, upstream } = caseOf(
    typeof reported === 'string' ? reported : JSON.stringify(reported, null, 2),
    type,
    false,
  );
  const headers = { 'content-type': 'application/json' };
  const answer = provider.protocol.answer({ provider, channel, caller, status: 200, headers, body: upstream, info });
  return { upstream, answer, bytes: answer.ok ? caller.dialect.whole(answer, caller, channel) : null };
};

describe('a request', () => {
  const sent = (
    type: number,
    {
      channel = {},
      asked = {},
      query = '',
      keepsUpstream = true,
      ...rest
    }: {
      channel?: Partial<typeof plainChannel>;
      asked?: JsonObject;
      query?: string;
      outputLimit?: number;
      maxOutput?: number;
      keepsUpstream?: boolean;
    } = {},
  ) => {
    const provider = providerOfType(type);
    const caller = { ...callerWith({ ...body, ...asked }, query), ...rest };
    const model = String(caller.body.model);
    const request = provider.protocol.request({
      provider,
      channel: { ...plainChannel, ...channel },
      caller,
      model,
      options: { ...usualOptions, keepsUpstream },
    });
    return { ...request, body: JSON.parse(wordsOf(request.content)) as JsonObject };
  };

  test.each([
    [1, {}, '', 'https://api.openai.com/v1/responses'],
    [48, {}, '', 'https://api.x.ai/v1/responses'],
    [39, { other: 'acc' }, '', 'https://api.cloudflare.com/client/v4/accounts/acc/ai/v1/responses'],
    [8, { baseUrl: 'https://any.example/v1/responses' }, '', 'https://any.example/v1/responses'],
    [3, { baseUrl: 'https://r.example' }, '', 'https://r.example/openai/v1/responses'],
    [3, { baseUrl: 'https://r.example', other: '2024-12-01-preview' }, '', 'https://r.example/openai/v1/responses'],
    [
      3,
      { baseUrl: 'https://r.example', other: 'preview' },
      '',
      'https://r.example/openai/v1/responses?api-version=preview',
    ],
    [
      3,
      { baseUrl: 'https://r.example' },
      'api-version=2025-04-01-preview',
      'https://r.example/openai/responses?api-version=2025-04-01-preview',
    ],
  ])('to a channel of type %i with %j and the query “%s” goes to %s', (type, channel, query, url) => {
    expect(sent(type, { channel, query }).url).toBe(url);
  });

  test('to a custom channel whose address is that of chat is a fault of the channel', () => {
    expect(() => sent(8, { channel: { baseUrl: 'https://any.example/v1/chat/completions' } })).toThrow(
      expect.objectContaining({ fault: 'channel' }),
    );
  });

  test('carries every member unchanged, and adds store false where nothing is to be kept', () => {
    const asked = { instructions: 'Be brief.', include: ['reasoning.encrypted_content'], someday: { deep: [1] } };
    expect(sent(1, { asked }).body).toEqual({ ...body, ...asked });
    expect(sent(1, { asked, keepsUpstream: false }).body).toEqual({ ...body, ...asked, store: false });
  });

  test('is written with the text it came as, blanks and digits and all', () => {
    const source = '{ "model" : "m",  "input":"hi", "someday": 12345678901234567890 }';
    const value = JSON.parse(source) as JsonObject;
    const provider = providerOfType(1);
    const caller = { ...callerWith(value), source: { text: source, value } };
    const { content } = provider.protocol.request({
      provider,
      channel: plainChannel,
      caller: { ...caller, body: value },
      model: 'm',
      options: usualOptions,
    });
    expect(wordsOf(content)).toBe('{ "model" : "m",  "input":"hi", "someday": 12345678901234567890 }');
  });

  test('takes the effort at the end of a name as its effort of reasoning', () => {
    const { body, reasoningEffort } = sent(1, { asked: { model: 'gpt-5-high', reasoning: { summary: 'auto' } } });
    expect(body).toMatchObject({ model: 'gpt-5', reasoning: { summary: 'auto', effort: 'high' } });
    expect(reasoningEffort).toBe('high');
  });

  test('carries the limit that can be afforded in place of the caller’s', () => {
    expect(sent(1, { asked: { max_output_tokens: 900 }, outputLimit: 64 }).body.max_output_tokens).toBe(64);
  });

  test.each([
    [{ max_tokens: 5_000 }, 1_000],
    [{ max_completion_tokens: 700 }, 700],
    [{ max_output_tokens: null }, 800],
  ])('with an operator’s parameters %j has a limit of %i tokens under its own name', (paramOverride, limit) => {
    const { body } = sent(1, { asked: { max_output_tokens: 800 }, channel: { paramOverride }, maxOutput: 1_000 });
    expect(body).toMatchObject({ max_output_tokens: limit });
    expect(body).not.toHaveProperty('max_tokens');
    expect(body).not.toHaveProperty('max_completion_tokens');
  });

  test('is neither kept nor put into the background by an operator’s parameters', () => {
    const paramOverride = { store: true, background: true, temperature: 0.5 };
    expect(sent(1, { channel: { paramOverride }, keepsUpstream: false }).body).toMatchObject({
      store: false,
      background: false,
      temperature: 0.5,
    });
  });

  test('asks no other model to do the work, and for no tier without a price', () => {
    const asked = { models: ['dear'], service_tier: 'priority' };
    expect(sent(1, { asked }).body).toEqual(body);
  });
});

const reported = responseOf([searchItem(), messageItem(text), callItem('{"word":"ledger"}')], {
  usage: reportedUsage(40, 30, { cached: 8, reasoning: 12 }),
  service_tier: 'default',
});
const tokens = { input: 32, cachedInput: 8, output: 18, reasoning: 12 };

describe('a whole answer', () => {
  test('is passed on byte for byte, with its usage, words, calls and searches', () => {
    const { answer, bytes, upstream } = whole(reported);
    expect(bytes).toBe(upstream);
    if (!answer.ok) throw new Error(answer.error.message);
    expect(answer.usage).toEqual({ ...tokens, 'calls:web_search': 1 });
    expect(answer.generated).toMatchObject({ toolCalls: 1, finishReason: 'stop', serviceTier: 'default' });
    expect(answer.generated.said.toString()).toContain(text);
  });

  test.each([
    ['pages that were opened', [searchItem(), searchItem('open_page'), searchItem('find_in_page')], {}, 1],
    ['what upstream bills', [searchItem(), searchItem()], { tool_usage: { web_search: { num_requests: 1 } } }, 1],
    ['no search', [messageItem(text)], {}, undefined],
  ])('counts searches by %s', (_what, output, rest, searches) => {
    const { answer } = whole(responseOf(output, rest));
    expect(answer.ok && answer.usage?.['calls:web_search']).toBe(searches);
  });

  test('that has run code several times counts one container', () => {
    const { answer } = whole(responseOf([codeItem, codeItem, messageItem(text)]));
    expect(answer.ok && answer.usage?.['calls:code_interpreter']).toBe(1);
  });

  test('counts what was written to a cache by how long it is kept', () => {
    const details = { cache_write_tokens: 30, cache_write_tokens_details: { ttl_30m_tokens: 20, ttl_12h_tokens: 10 } };
    const usage = { ...reportedUsage(40, 30), input_tokens_details: { cached_tokens: 0, ...details } };
    const { answer, bytes, upstream } = whole(responseOf([messageItem(text)], { usage }));
    expect(answer.ok && answer.usage).toEqual({ input: 10, cacheWrite: 20, cacheWriteHour: 10, output: 30 });
    expect(bytes).toBe(upstream);
  });

  test('says what is charged where upstream counts otherwise, and nothing else changes', () => {
    const usage = { ...reportedUsage(40, 30, { cached: 400 }), total_tokens: 9 };
    const { bytes } = whole(responseOf([messageItem(text)], { usage }));
    expect(JSON.parse(bytes?.toString() ?? '')).toEqual(
      responseOf([messageItem(text)], { usage: reportedUsage(40, 30, { cached: 40 }) }),
    );
  });

  test('that is incomplete and has put nothing out is an answer all the same', () => {
    const rest = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    const { answer } = whole(responseOf([], { ...rest, usage: reportedUsage(20, 64, { reasoning: 64 }) }));
    expect(answer).toMatchObject({ ok: true, usage: { input: 20, reasoning: 64 } });
  });

  test.each([
    ['failed', { status: 'failed', error: { code: 'server_error', message: 'it broke' } }, 'it broke'],
    ['queued', { status: 'queued', usage: null }, 'in the background'],
  ])('that is %s is a failure whose cost is unknown', (_status, rest, message) => {
    const { answer } = whole(responseOf([], rest));
    expect(answer).toMatchObject({ ok: false, costUnknown: true });
    expect(!answer.ok && answer.error.message).toContain(message);
  });

  test.each([
    ['an error', { error: { message: 'no quota', type: 'insufficient_quota', code: 'insufficient_quota' } }, 429],
    ['nothing', {}, 502],
    ['no list of items', { ...responseOf([]), output: 'none' }, 502],
  ])('that holds %s is a failure with status %#', (_what, body, status) => {
    expect(whole(body as JsonObject).answer).toMatchObject({ ok: false, error: { status } });
  });
});

describe('a stream', () => {
  const stream = streamOf(reported);

  test('is passed on unchanged, its last event delayed until it is closed', () => {
    const played = play(caseOf(stream), [Buffer.from(stream)]);
    expect(played).toMatchObject({
      ...{ answer: stream, forwarded: eventsOf(reported).join(''), error: null, finished: true },
      usage: { ...tokens, 'calls:web_search': 1 },
      generated: { toolCalls: 1, finishReason: 'stop' },
    });
  });

  test('is the same cut at every byte, and byte by byte', () => {
    const golden = caseOf(stream);
    const bytes = golden.upstream;
    const uncut = JSON.stringify(play(golden, [bytes]));
    const wrong: number[] = [];
    for (const { at, pieces } of cutEverywhere(bytes))
      if (JSON.stringify(play(golden, pieces)) !== uncut) wrong.push(at);
    expect(wrong).toEqual([]);
    expect(JSON.stringify(play(golden, byteByByte(bytes)))).toBe(uncut);
  });

  test.each([
    ['without names of events', (all: string) => all.replaceAll(/^event: .*\n/gm, '')],
    ['with CRLF', (all: string) => all.replaceAll('\n', '\r\n')],
    ['with comments between its events', (all: string) => all.replaceAll('\n\n', '\n\n: ping\n\n')],
    ['with an end mark of chat', (all: string) => `${all}data: [DONE]\n\n`],
    ['that completes twice', (all: string) => all + lastEventOf(reported)],
    ['without a blank line at its end', (all: string) => all.replace(/\n+$/, '')],
  ])('%s is the same for its caller', (_how, spelled) => {
    expect(play(caseOf(stream), [Buffer.from(spelled(stream))]).answer).toBe(stream);
  });

  test('that ends without its last event has not finished, and is closed by nothing', () => {
    const torn = play(caseOf(stream), [Buffer.from(eventsOf(reported).join(''))]);
    expect(torn).toMatchObject({ finished: false, error: null, generated: { finishReason: null } });
    expect(torn.answer).toBe(torn.forwarded);
  });

  test('says in its last event what is charged, where upstream counts otherwise', () => {
    const lied = { ...reported, usage: { ...reportedUsage(40, 30, { cached: 8, reasoning: 12 }), total_tokens: 1 } };
    const { answer } = play(caseOf(stream), [Buffer.from(streamOf(lied))]);
    expect(answer).toBe(streamOf(reported));
  });

  test.each(['incomplete', 'cancelled'])('that ends as %s is whole, with its usage', (status) => {
    const ended = streamOf({ ...reported, status });
    const played = play(caseOf(ended), [Buffer.from(ended)]);
    expect(played).toMatchObject({ answer: ended, finished: true, usage: tokens });
  });

  const failure = { code: 'rate_limit_exceeded', message: 'slow down, sk-plain-0123456789' };
  const failedEvent = lastEventOf({ ...reported, status: 'failed', error: failure });
  const errorEvent = `event: error\ndata: ${JSON.stringify({ type: 'error', ...failure, param: null })}\n\n`;

  test.each([
    ['an event of the failed response', failedEvent, tokens],
    ['an event of an error, and one of the failed response', errorEvent + failedEvent, tokens],
    ['an event of an error alone', errorEvent, null],
    ['an error without a type', `data: ${JSON.stringify({ error: failure })}\n\n`, null],
  ])('that fails by %s reports the failure without the key, and its usage', (_how, events, usage) => {
    const before = eventsOf(reported).slice(0, 4).join('');
    for (const chunks of [[Buffer.from(before + events)], byteByByte(Buffer.from(before + events))]) {
      const played = play(caseOf(stream), chunks);
      expect(played.error).toMatchObject({ status: 429, message: 'slow down, ***' });
      expect(played.forwarded).toBe(before);
      if (usage === null) expect(played.usage).toBeNull();
      else expect(played.usage).toMatchObject(usage);
    }
  });

  test('is parsed at its beginning and its end alone, where events differ by their words and numbers', () => {
    const long = responseOf([messageItem('word '.repeat(2_000))]);
    const golden = caseOf(streamOf(long));
    const parse = vi.spyOn(JSON, 'parse');
    const played = play(golden, [golden.upstream]);
    const parsed = parse.mock.calls.length;
    parse.mockRestore();
    expect(parsed).toBeLessThan(20);
    expect(played.answer).toBe(streamOf(long));
    expect(played.generated.text).toBe('word '.repeat(2_000));
  });

  test.each([
    ['another item', '"output_index":0', '"output_index":1'],
    ['logprobs', '"content_index":0', '"content_index":0,"logprobs":[{"token":"a"}]'],
    ['an escape', '"delta":"', '"delta":"\\n'],
    ['a second delta', '"delta":"', '"delta":"a","delta":"'],
    ['a blank', '"delta":"', '"delta" : "'],
  ])('with %s in some events is passed on unchanged, its words counted', (_what, before, after) => {
    const events = eventsOf(responseOf([messageItem('word '.repeat(100))]));
    const odd = events.map((event, at) => (at % 3 === 0 ? event.replace(before, after) : event)).join('');
    const golden = caseOf(odd);
    const played = play(golden, [golden.upstream]);
    expect(played.forwarded).toBe(odd);
    expect(JSON.stringify(played)).toBe(JSON.stringify(play(golden, byteByByte(golden.upstream))));
  });

  test('has not begun to answer until it says something', () => {
    const { provider, channel, caller, info } = caseOf(stream);
    const decoder = provider.protocol.stream({ provider, channel, caller, info });
    const events = eventsOf(responseOf([messageItem(text)]));
    for (const event of events.slice(0, 4)) decoder.push(Buffer.from(event));
    expect(decoder).toMatchObject({ progress: 0, begun: true });
    decoder.push(Buffer.from(events[4] ?? ''));
    expect(decoder.progress).toBe(1);
  });

  test('counts a summary of thinking apart from its output', () => {
    const summary = { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'thinking '.repeat(40) };
    const { provider, channel, caller, info } = caseOf(stream);
    const decoder = provider.protocol.stream({ provider, channel, caller, info });
    decoder.push(Buffer.from(`data: ${JSON.stringify(summary)}\n\n`));
    expect(decoder.generated.toolsBytes).toBe(360);
  });
});

const folder = process.env.WIRE_FIXTURES ?? '';
const folders = [
  ['openai/responses', 1],
  ['xai/responses', 48],
  ['open-responses/responses', 8],
  ['azure', 3],
] as const;
const recordings = folders.flatMap(([path, type]) =>
  folder === '' || !existsSync(join(folder, path))
    ? []
    : readdirSync(join(folder, path))
        .filter((file) => /\.(json|chunks\.txt)$/.test(file))
        .map((file) => ({ name: `${path}/${file}`, type, raw: readFileSync(join(folder, path, file), 'utf8') })),
);

const parsedOutput = (raw: string): unknown => {
  const reported = parseJson(raw);
  return isObject(reported) ? reported.output : undefined;
};

/** Recordings that break off before their last event. */
const lastOf = (events: readonly JsonObject[]): JsonObject | undefined =>
  events.find(({ type }) => /^response\.(completed|incomplete)$/.test(String(type)));

describe.runIf(recordings.length > 0)('a recorded answer', () => {
  const streams = recordings.filter(({ name }) => name.endsWith('.txt'));
  // Those of chat, and refusals, lie there as well.
  const wholes = recordings.filter(({ name, raw }) => name.endsWith('.json') && isList(parsedOutput(raw)));

  test.each(wholes)('$name is passed on byte for byte, with the usage it reports', ({ raw, type }) => {
    const { answer, bytes, upstream } = whole(raw, type);
    if (!answer.ok) throw new Error(answer.error.message);
    const { usage } = JSON.parse(raw) as { usage: JsonObject };
    expect(bytes).toBe(upstream);
    expect(promptTokens(answer.usage ?? {})).toBe(usage.input_tokens);
  });

  test.each(streams)('$name is passed on unchanged, cut anywhere', ({ raw, type }) => {
    // One response of it, without what is no JSON: that is passed on to nobody.
    const lines = raw.split('\n').filter((line) => isObject(parseJson(line)));
    const all = lines.map((line) => ({ line, event: JSON.parse(line) as JsonObject }));
    const ended = all.findIndex(({ event }) => lastOf([event]) !== undefined);
    const events = ended < 0 ? all : all.slice(0, ended + 1);
    const spelled = events.map(({ line, event }) => `event: ${event.type}\ndata: ${line}\n\n`).join('');
    const golden = caseOf(spelled, type);
    const bytes = golden.upstream;
    const uncut = play(golden, [bytes]);
    const last = lastOf(events.map(({ event }) => event));
    // What upstream charges is for no caller to see.
    if (last !== undefined) expect(uncut.answer).toBe(spelled.replace(/,"cost_in_usd_ticks":\d+/, ''));
    expect(uncut.finished).toBe(last !== undefined);
    const response = isObject(last?.response) ? last.response : {};
    const usage = isObject(response.usage) ? response.usage : {};
    if (Number(usage.total_tokens) > 0) expect(promptTokens(uncut.usage ?? {})).toBe(usage.input_tokens);
    const calls = objectsIn(response.output).filter(({ type }) => /^(function|custom_tool)_call$/.test(String(type)));
    if (last !== undefined) expect(uncut.generated.toolCalls).toBe(calls.length);
    const expected = JSON.stringify(uncut);
    // Every place of a long recording would take minutes.
    const step = bytes.length > 20_000 ? 32 : bytes.length > 4_000 ? 8 : 1;
    const wrong: number[] = [];
    for (const { at, pieces } of cutEverywhere(bytes, step))
      if (JSON.stringify(play(golden, pieces)) !== expected) wrong.push(at);
    expect(wrong).toEqual([]);
  });
});
