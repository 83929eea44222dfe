import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { completionTokens, promptTokens } from '../../../../src/domain/call/usage.js';
import type { CallerRequest } from '../../../../src/relay/contracts/protocol.js';
import { messages } from '../../../../src/relay/dialects/anthropic/endpoints/messages.js';
import { generateContent } from '../../../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { chat } from '../../../../src/relay/dialects/openai/endpoints/chat.js';
import { isList, isObject, type JsonObject, objectsIn, parseJson } from '../../../../src/relay/json/json.js';
import { neutralOf } from '../../../../src/relay/protocols/neutral-of.js';
import { wordsOf } from '../../../../src/relay/upstream/request-content.js';
import { type Protocol, protocols } from '../../../support/upstreams/dialect-upstreams.js';
import {
  callItem,
  eventsOf,
  lastEventOf,
  messageItem,
  reasoningItem,
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
import { answerSentTo, comparable, payloadsIn, receivedBy } from '../../providers/received-answer.js';

/* Answers of the Responses API, written for callers of chat. */

const responsesOnly = { responsesOnly: true };
const text = 'Every charge can be proved.';
const custom: JsonObject = {
  id: 'ctc_1',
  type: 'custom_tool_call',
  call_id: 'call_2',
  name: 'patch',
  input: '*** Begin',
};
const reported = responseOf([reasoningItem('Let me see.'), messageItem(text), callItem('{"word":"ledger"}'), custom], {
  usage: reportedUsage(40, 30, { cached: 8, reasoning: 12 }),
  service_tier: 'default',
});
const tokens = { input: 32, cachedInput: 8, output: 18, reasoning: 12 };

const tools = [{ type: 'custom', custom: { name: 'patch' } }];

/** Who asks has a custom tool. */
function goldenFor(dialect: Protocol, type: number, stream: boolean, bytes: Buffer): Golden {
  const golden = answerSentTo(dialect, type, stream, bytes, responsesOnly);
  return { ...golden, caller: { ...golden.caller, body: { ...golden.caller.body, tools } } };
}

function answered(response: JsonObject, dialect: Protocol = 'openai') {
  const bytes = Buffer.from(JSON.stringify(response));
  const { provider, channel, caller, info } = goldenFor(dialect, 1, false, bytes);
  const answer = provider.protocol.answer({ provider, channel, caller, status: 200, headers: {}, body: bytes, info });
  if (!answer.ok) throw new Error(answer.error.message);
  return { answer, body: JSON.parse(caller.dialect.whole(answer, caller, channel).toString('utf8')) as JsonObject };
}

const streamed = (events: string, dialect: Protocol = 'openai', chunks: readonly Buffer[] = [Buffer.from(events)]) =>
  play(goldenFor(dialect, 1, true, Buffer.from(events)), chunks);

/** The message as OpenAI's clients put it together. */
function messageOf(events: string): JsonObject {
  const message: JsonObject = {};
  const calls: JsonObject[] = [];
  for (const { delta } of payloadsIn(streamed(events).answer).flatMap(({ choices }) => objectsIn(choices))) {
    const { tool_calls: pieces, ...words } = isObject(delta) ? delta : {};
    for (const [name, value] of Object.entries(words))
      message[name] = typeof value === 'string' && name !== 'role' ? `${message[name] ?? ''}${value}` : value;
    for (const { index, ...piece } of objectsIn(pieces)) {
      const call = calls[Number(index)] ?? {};
      calls[Number(index)] = call;
      for (const [name, value] of Object.entries(piece)) {
        const before = call[name];
        if (!isObject(value)) call[name] = value;
        else if (!isObject(before)) call[name] = { ...value };
        else for (const [member, more] of Object.entries(value)) before[member] = `${before[member] ?? ''}${more}`;
      }
    }
  }
  return { ...message, ...(calls.length > 0 && { tool_calls: calls }) };
}

const message = {
  role: 'assistant',
  content: text,
  reasoning_content: 'Let me see.',
  reasoning_details: [
    {
      ...{ type: 'reasoning.encrypted', data: 'gAAAAABsealed', format: 'openai-responses-v1' },
      id: 'rs_0123456789abcdef0123',
    },
  ],
  tool_calls: [
    { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"word":"ledger"}' } },
    { id: 'call_2', type: 'custom', custom: { name: 'patch', input: '*** Begin' } },
  ],
};

describe('a whole response', () => {
  test('becomes the answer of a chat, with its words, calls, reasoning and usage', () => {
    const { answer, body } = answered(reported);
    expect(body).toEqual({
      ...{
        id: reported.id,
        object: 'chat.completion',
        created: reported.created_at,
        model: 'm',
        service_tier: 'default',
      },
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage: {
        ...{ prompt_tokens: 40, completion_tokens: 30, total_tokens: 70 },
        prompt_tokens_details: { cached_tokens: 8 },
        completion_tokens_details: { reasoning_tokens: 12 },
      },
    });
    expect(answer.usage).toEqual(tokens);
    expect(answer.generated).toMatchObject({ toolCalls: 2, serviceTier: 'default' });
  });

  test('keeps its refusal, its citations and its logprobs', () => {
    const refusal = { ...messageItem(''), content: [{ type: 'refusal', refusal: 'No.' }] };
    const choice = (output: JsonObject[]) => objectsIn(answered(responseOf(output)).body.choices)[0];
    expect(choice([refusal])).toMatchObject({ message: { content: null, refusal: 'No.' }, finish_reason: 'stop' });
    const cited = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 2, end_index: 4 };
    const part = { type: 'output_text', text: 'b c', annotations: [cited], logprobs: [{ token: 'b', logprob: -1 }] };
    expect(choice([messageItem('a'), { ...messageItem(''), content: [part] }])).toMatchObject({
      message: {
        content: 'a\n\nb c',
        annotations: [
          { type: 'url_citation', url_citation: { url: 'https://a.example', start_index: 5, end_index: 7 } },
        ],
      },
      logprobs: { content: [{ token: 'b', logprob: -1 }] },
    });
  });

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
  ])('that is incomplete for %s ends by %s', (reason, finish) => {
    const { body } = answered(
      responseOf([messageItem('Ev')], { status: 'incomplete', incomplete_details: { reason } }),
    );
    expect(objectsIn(body.choices)[0]).toMatchObject({ finish_reason: finish });
  });

  test('is charged for the searches that an operator’s parameters have switched on', () => {
    expect(answered(responseOf([searchItem(), messageItem(text)])).answer.usage).toMatchObject({
      'calls:web_search': 1,
    });
  });

  test('of xAI has no calls of the provider’s own tools', () => {
    const own = { ...custom, name: 'x_keyword_search' };
    const { body } = answered(responseOf([own, messageItem(text)]));
    expect(objectsIn(body.choices)[0]).toMatchObject({ message: { content: text }, finish_reason: 'stop' });
    expect(messageOf(streamOf(responseOf([own, messageItem(text)])))).toEqual({ role: 'assistant', content: text });
  });

  test('with calls that share an id, or have no id, gets distinct ids', () => {
    const nameless = { ...callItem('{}'), call_id: '', id: '' };
    const { body } = answered(responseOf([callItem('{}'), callItem('{}'), nameless, nameless]));
    const [choice] = objectsIn(body.choices);
    const ids = isObject(choice?.message) ? objectsIn(choice.message.tool_calls).map(({ id }) => id) : [];
    expect(new Set(ids).size).toBe(4);
  });
});

describe('a streamed response', () => {
  const stream = streamOf(reported);

  test('is put together by clients as the whole one is', () => {
    expect(messageOf(stream)).toEqual(message);
    expect(streamed(stream)).toMatchObject({
      ...{ error: null, finished: true, usage: tokens },
      generated: { toolCalls: 2, finishReason: 'tool_calls' },
    });
  });

  test.each(protocols)('is the same for clients of %s cut at every byte', (dialect) => {
    const bytes = Buffer.from(stream);
    const uncut = JSON.stringify(streamed(stream, dialect));
    const wrong: number[] = [];
    for (const { at, pieces } of cutEverywhere(bytes))
      if (JSON.stringify(streamed(stream, dialect, pieces)) !== uncut) wrong.push(at);
    expect(wrong).toEqual([]);
    expect(JSON.stringify(streamed(stream, dialect, byteByByte(bytes)))).toBe(uncut);
  });

  const events = eventsOf(reported);
  const without = (kept: (event: JsonObject) => boolean): string =>
    events.filter((event) => kept(JSON.parse(event.split('\ndata: ')[1] ?? '{}') as JsonObject)).join('');
  const last = lastEventOf(reported);
  const unnumbered = (stream: string): string => stream.replaceAll(/"output_index":\d+,?/g, '');
  const isEnd = ({ type }: JsonObject): boolean => type === 'response.output_item.done';
  const endsLast = without((event) => !isEnd(event)) + without(isEnd);

  test.each([
    ['completes twice', stream + last],
    ['has events of unknown types', stream.replaceAll('\n\nevent', '\n\nevent: a.b\ndata: {"type":"a.b"}\n\nevent')],
    ['has no deltas', without(({ type }) => !String(type).endsWith('.delta')) + last],
    ['has items in their last events alone', without(({ type }) => type === 'response.output_item.done') + last],
    ['has nothing but its last event', last],
    ['has no beginnings of items', without(({ type }) => type !== 'response.output_item.added') + last],
    ['has no ends of items', without(({ type }) => type !== 'response.output_item.done') + last],
    ['has each item twice', events.flatMap((one) => (one.includes('item.done') ? [one, one] : [one])).join('') + last],
    ['names no events', stream.replaceAll(/^event: .*\n/gm, '')],
    ['numbers no items', unnumbered(stream)],
    [
      'numbers no items and has no beginnings',
      unnumbered(without(({ type }) => type !== 'response.output_item.added') + last),
    ],
    [
      'numbers no items and has no ends',
      unnumbered(without(({ type }) => type !== 'response.output_item.done') + last),
    ],
    ['numbers no items and ends them all at the end', unnumbered(endsLast + last)],
  ])('that %s is the same message', (_how, reported) => {
    expect(messageOf(reported)).toEqual(message);
  });

  test('whose items overlap keeps the arguments of each call together', () => {
    const calls = [callItem('{"word":"ledger"}'), { ...callItem('{"word":"debit"}'), id: 'fc_2', call_id: 'call_9' }];
    const [first, second] = calls.map((call, at) =>
      eventsOf(responseOf(calls)).filter(
        (event) => event.includes(`"output_index":${at}`) && event.includes(String(call.id)),
      ),
    );
    const mixed = (first ?? []).flatMap((event, at) => [event, second?.[at] ?? '']).join('');
    expect(
      objectsIn(messageOf(mixed + lastEventOf(responseOf(calls))).tool_calls).map((call) => call.function),
    ).toEqual([
      { name: 'look_up', arguments: '{"word":"ledger"}' },
      { name: 'look_up', arguments: '{"word":"debit"}' },
    ]);
  });

  test('that names its calls by the ids of their results alone has each of them once', () => {
    const calls = ['ledger', 'debit'].map((word) => {
      const { id: _, ...call } = callItem(JSON.stringify({ word }));
      return { ...call, call_id: `fc_${word}` };
    });
    const whole = responseOf(calls);
    const named = responseOf(calls.map((call) => ({ ...call, id: call.call_id })));
    // Its pieces name the call, and its items have no id.
    const stream = unnumbered(eventsOf(named).join('')).replaceAll(/"id":"fc_\w+",?|,"id":"fc_\w+"/g, '');
    expect(objectsIn(messageOf(stream + lastEventOf(whole)).tool_calls)).toMatchObject([
      { id: 'fc_ledger', function: { arguments: '{"word":"ledger"}' } },
      { id: 'fc_debit', function: { arguments: '{"word":"debit"}' } },
    ]);
  });

  test('with several summaries and messages has a paragraph for each', () => {
    const summary = [
      { type: 'summary_text', text: 'One.' },
      { type: 'summary_text', text: 'Two.' },
    ];
    const output = [{ ...reasoningItem(''), summary }, messageItem('First.'), messageItem('Last.')];
    const whole = answered(responseOf(output)).body;
    const put = messageOf(streamOf(responseOf(output)));
    expect(put).toMatchObject({ content: 'First.\n\nLast.', reasoning_content: 'One.\n\nTwo.' });
    expect(objectsIn(whole.choices)[0]?.message).toEqual(put);
  });

  test('that breaks off has no end, and its words are counted', () => {
    const torn = streamed(events.slice(0, -3).join(''));
    expect(torn).toMatchObject({ finished: false, error: null, usage: null, generated: { finishReason: null } });
    expect(torn.generated.text).toContain(text);
  });

  test.each([
    [
      'response.failed',
      {
        type: 'response.failed',
        response: { ...reported, status: 'failed', error: { code: 'server_error', message: 'it broke' } },
      },
    ],
    ['an error', { type: 'error', code: 'server_error', message: 'it broke', param: null }],
  ])('that fails by %s is a failure', (_how, event) => {
    const failed = `${events.slice(0, 6).join('')}data: ${JSON.stringify(event)}\n\n`;
    expect(streamed(failed).error).toMatchObject({ message: 'it broke' });
  });
});

describe('sealed thinking', () => {
  const question = 'What is a ledger?';
  const endpoints = { openai: chat, anthropic: messages, gemini: generateContent };

  /** What goes upstream in the next turn. */
  function nextTurn(
    dialect: Protocol,
    body: JsonObject,
    channel: Partial<typeof plainChannel> = responsesOnly,
    type = 1,
  ) {
    const endpoint = endpoints[dialect];
    const asked = { model: 'gpt-5', ...(dialect !== 'gemini' && { max_tokens: 99 }), ...body };
    const caller: CallerRequest = {
      ...callerOf('chat', asked),
      dialect: endpoint.dialect,
      neutral: neutralOf(endpoint, asked),
    };
    const provider = providerOfType(type);
    const reported = { ...plainChannel, ...channel };
    const { content } = provider.protocol.request({
      ...{ provider, caller, model: 'gpt-5', options: usualOptions },
      channel: reported,
    });
    return JSON.parse(wordsOf(content)) as JsonObject;
  }

  const thought = responseOf([reasoningItem('Let me see.'), messageItem(text)]);
  const histories: Readonly<Record<Protocol, () => JsonObject>> = {
    openai: () => ({
      messages: [
        { role: 'user', content: question },
        objectsIn(answered(thought).body.choices)[0]?.message ?? {},
        { role: 'user', content: 'And?' },
      ],
    }),
    anthropic: () => ({
      messages: [
        { role: 'user', content: question },
        { role: 'assistant', content: answered(thought, 'anthropic').body.content ?? [] },
        { role: 'user', content: 'And?' },
      ],
    }),
    gemini: () => ({
      contents: [
        { role: 'user', parts: [{ text: question }] },
        objectsIn(answered(thought, 'gemini').body.candidates)[0]?.content ?? {},
        { role: 'user', parts: [{ text: 'And?' }] },
      ],
    }),
  };

  test.each(protocols)('goes back with the next turn of a client of %s', (dialect) => {
    expect(nextTurn(dialect, histories[dialect]()).input).toEqual([
      { type: 'message', role: 'user', content: question },
      { type: 'reasoning', id: 'rs_0123456789abcdef0123', summary: [], encrypted_content: 'gAAAAABsealed' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
      { type: 'message', role: 'user', content: 'And?' },
    ]);
  });

  test.each(['anthropic', 'gemini'] as const)('of a client of %s is not shown to its own maker', (dialect) => {
    const type = dialect === 'gemini' ? 24 : 14;
    expect(JSON.stringify(nextTurn(dialect, histories[dialect](), {}, type))).not.toMatch(/gAAAAABsealed|openai-resp/);
    expect(JSON.stringify(nextTurn(dialect, histories[dialect](), {}, 1))).not.toContain('gAAAAABsealed');
  });

  test('of other makers is left out', () => {
    const details = [
      { type: 'reasoning.encrypted', data: 'theirs', format: 'anthropic-claude-v1' },
      { type: 'reasoning.text', text: 'a', signature: 'b' },
    ];
    const said = { role: 'assistant', content: 'a', reasoning_details: details };
    expect(objectsIn(nextTurn('openai', { messages: [said] }).input).map(({ type }) => type)).toEqual(['message']);
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

const endOf = (events: readonly JsonObject[]): number =>
  events.findIndex(({ type }) => /^response\.(completed|incomplete)$/.test(String(type)));

/** One of them reports more at its end than in its pieces. */
const wordsIn = (events: readonly JsonObject[]): string =>
  events.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')).join('');

describe.runIf(recordings.length > 0)('a recorded response', () => {
  const wholes = recordings.filter(({ name, raw }) => {
    const reported = name.endsWith('.json') ? parseJson(raw) : null;
    return isObject(reported) && isList(reported.output);
  });
  const streams = recordings
    .filter(({ name }) => name.endsWith('.txt'))
    .map(({ raw, ...rest }) => {
      const all = raw.split('\n').map(parseJson).filter(isObject);
      return { ...rest, events: all.slice(0, endOf(all) + 1) };
    })
    .filter(({ events }) => events.length > 0);

  test.each(wholes)('$name has its words, calls and usage as a chat', ({ raw }) => {
    const response = parseJson(raw) as JsonObject;
    const { answer, body } = answered(response);
    const heard = receivedBy('openai', [body], false);
    const usage = isObject(response.usage) ? response.usage : {};
    expect([heard.input, heard.output]).toEqual([usage.input_tokens, usage.output_tokens]);
    expect(promptTokens(answer.usage ?? {})).toBe(usage.input_tokens);
    const words = objectsIn(response.output)
      .filter(({ type }) => type === 'message')
      .map(({ content }) => objectsIn(content).map(({ text }) => text ?? ''))
      .map((parts) => parts.join(''));
    expect(heard.content).toBe(words.filter((said) => said !== '').join('\n\n'));
  });

  test.each(streams)(
    '$name streams the chat that its whole response becomes, wherever it is cut',
    ({ events, type }) => {
      const response = events.at(-1)?.response as JsonObject;
      const expected = receivedBy('openai', [answered(response).body], false);
      const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
      for (const dialect of protocols) {
        const golden = goldenFor(dialect, type, true, bytes);
        const uncut = play(golden, [bytes]);
        if (uncut.usage !== null && wordsIn(events) === expected.content)
          expect(receivedBy(dialect, payloadsIn(uncut.answer), true)).toEqual(comparable(expected, dialect));
        expect([promptTokens(uncut.usage ?? {}), completionTokens(uncut.usage ?? {})]).toEqual([
          expected.input,
          expected.output,
        ]);
        // Every place of a long recording would take minutes.
        const step = bytes.length > 20_000 ? 64 : 8;
        const whole = JSON.stringify(uncut);
        const wrong: number[] = [];
        for (const { at, pieces } of cutEverywhere(bytes, step))
          if (JSON.stringify(play(golden, pieces)) !== whole) wrong.push(at);
        expect(wrong).toEqual([]);
      }
    },
  );
});
