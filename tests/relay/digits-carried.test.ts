import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/relay/contracts/endpoint.js';
import type { CallerRequest } from '../../src/relay/contracts/protocol.js';
import { messages } from '../../src/relay/dialects/anthropic/endpoints/messages.js';
import { generateContent } from '../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { chat } from '../../src/relay/dialects/openai/endpoints/chat.js';
import { isObject, type JsonObject, parseJson } from '../../src/relay/json/json.js';
import { named, sentBody } from '../../src/relay/pipeline/sent-text.js';
import { neutralOf } from '../../src/relay/protocols/neutral-of.js';
import { numberTexts, objectTexts } from '../support/inputs/json-texts.js';
import { type Protocol, protocols, typeOf } from '../support/upstreams/dialect-upstreams.js';
import { callerOf, plainChannel, play, providerOfType, usualOptions } from './providers/golden.js';
import { answerSentTo, payloadsIn } from './providers/received-answer.js';

/* What callers and upstreams write as numbers arrives with its digits, and between the same dialect as the text it is. */

const endpoints: Readonly<Record<Protocol, Endpoint>> = { openai: chat, anthropic: messages, gemini: generateContent };

/** What goes upstream of this wire for the text that a caller of this dialect has sent. */
function sentTo(
  wire: Protocol,
  dialect: Protocol,
  text: string,
  upstreamModel = 'model-b',
  paramOverride: JsonObject | null = null,
) {
  const endpoint = endpoints[dialect];
  const value = parseJson(text) as JsonObject;
  const model = dialect === 'gemini' ? 'model-a' : null;
  const { source, body, exact } = sentBody({ text, value }, (given) => named(given, model));
  const caller: CallerRequest = {
    ...callerOf('chat', body),
    dialect: endpoint.dialect,
    neutral: neutralOf(endpoint, body, exact),
    ...(source !== null && { source }),
  };
  const provider = providerOfType(typeOf(wire));
  const channel = { ...plainChannel, paramOverride };
  const { content } = provider.protocol.request({
    provider,
    channel,
    caller,
    model: upstreamModel,
    options: usualOptions,
  });
  if (content.kind !== 'json') throw new Error('it is no JSON');
  return content.text;
}

/** A body of each dialect: arguments of an earlier call, its result, a schema, and more that only this dialect has. */
const bodies: Readonly<Record<Protocol, (args: string, result: string, maximum: string, more: string) => string>> = {
  openai: (args, result, maximum, more) =>
    `{ "model":"model-a", "max_tokens":100,"seed":${maximum},"temperature":1.0,
  "messages":[{"role":"user","content":"\\u00e4 \\ud800"},
    {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":${JSON.stringify(args)}}}]},
    {"role":"tool","tool_call_id":"a","content":${JSON.stringify(result)}}],
  "tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"n":{"type":"integer","maximum":${maximum}}}}}}], "unknown":${more} }`,
  anthropic: (args, result, maximum, more) =>
    `{ "model":"model-a", "max_tokens":100,"temperature":1.0,
  "messages":[{"role":"user","content":"\\u00e4 \\ud800"},
    {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":${args}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":${JSON.stringify(result)}}]}],
  "tools":[{"name":"f","input_schema":{"type":"object","properties":{"n":{"type":"integer","maximum":${maximum}}}}}], "unknown":${more} }`,
  gemini: (args, result, maximum, more) =>
    `{ "generationConfig":{"maxOutputTokens":100,"temperature":1.0,"seed":${maximum}},
  "contents":[{"role":"user","parts":[{"text":"\\u00e4 \\ud800"}]},
    {"role":"model","parts":[{"functionCall":{"name":"f","args":${args}}}]},
    {"role":"user","parts":[{"functionResponse":{"name":"f","response":${result}}}]}],
  "tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":${maximum}}}}}]}], "unknown":${more} }`,
};

const numbersIn = (json: string): string[] =>
  [...json.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)].map(([all]) => all).filter((all) => !all.startsWith('"'));

/** Texts of JSON inside strings count as what they say. */
const allNumbersIn = (json: string): string[] => [
  ...numbersIn(json),
  ...[...json.matchAll(/"(?:[^"\\]|\\.)*"/g)].flatMap(([string]) => {
    const inner: unknown = JSON.parse(string);
    return typeof inner === 'string' && /^\s*[{[]/.test(inner) && isObject(parseJson(inner)) ? numbersIn(inner) : [];
  }),
];

/** Nothing but digits of numbers is of interest in arguments: names are the translator's to keep. */
const args = fc
  .array(numberTexts, { maxLength: 4 })
  .map((list) => `{"list":[${list.join(', ')}],"deep":{"n":${list[0] ?? 1}}}`);

describe.each(protocols)('a request of a client of %s', (dialect) => {
  test('is sent to an upstream of its own protocol as the same text, except for the model', () => {
    fc.assert(
      fc.property(args, objectTexts, numberTexts, objectTexts, (given, result, maximum, more) => {
        const text = bodies[dialect](given, result, maximum, more);
        const sent = sentTo(dialect, dialect, text);
        // Gemini's model is in the address.
        expect(sent).toBe(text.replace('"model-a"', '"model-b"'));
      }),
      { numRuns: 100 },
    );
  });

  test('keeps its text where an operator adds parameters, and where a limit is lowered', () => {
    const text = bodies[dialect]('{"id":2512292042121000001}', '{}', '9223372036854775807', '[1.0, -0, 1e400]');
    const sent = sentTo(dialect, dialect, text, 'model-b', { added: 1 });
    expect(sent).toBe(`${text.replace('"model-a"', '"model-b"').slice(0, -1)},"added":1}`);
  });

  test.each(protocols.filter((wire) => wire !== dialect))(
    'keeps the digits of its numbers when converted to %s',
    (wire) => {
      fc.assert(
        fc.property(args, args, numberTexts, (given, result, maximum) => {
          const sent = sentTo(wire, dialect, bodies[dialect](given, result, maximum, 'null'));
          const arrived = allNumbersIn(sent);
          for (const number of [...numbersIn(given), ...numbersIn(result), maximum]) expect(arrived).toContain(number);
        }),
        { numRuns: 100 },
      );
    },
  );
});

const called: Readonly<Record<Protocol, (text: string) => readonly [whole: string, stream: string]>> = {
  openai: (text) => {
    const call = `{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":${JSON.stringify(text)}}}`;
    return [
      `{"id":"x","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[${call}]},"finish_reason":"tool_calls"}]}`,
      `data: {"id":"x","model":"m","choices":[{"index":0,"delta":{"tool_calls":[${call}]},"finish_reason":null}]}\n\ndata: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n`,
    ];
  },
  anthropic: (text) => [
    `{"id":"x","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"a","name":"f","input":${text}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
    [
      '{"type":"message_start","message":{"id":"x","model":"m","usage":{"input_tokens":1,"output_tokens":1}}}',
      `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":${text}}}`,
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}',
      '{"type":"message_stop"}',
    ]
      .map((data) => `data: ${data}\n\n`)
      .join(''),
  ],
  gemini: (text) => {
    const response = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${text}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1}}`;
    return [response, `data: ${response}\n\n`];
  },
};

describe.each(protocols)('the arguments of a tool call in the protocol %s', (wire) => {
  test.each(protocols)('reach a client of %s with their digits, whole and streamed', (dialect) => {
    fc.assert(
      fc.property(args, (text) => {
        const [whole, stream] = called[wire](text);
        const golden = answerSentTo(dialect, typeOf(wire), false, Buffer.from(whole));
        const { provider, channel, caller, info } = golden;
        const answer = provider.protocol.answer({
          provider,
          channel,
          caller,
          status: 200,
          headers: {},
          body: golden.upstream,
          info,
        });
        if (!answer.ok) throw new Error('it failed');
        const written = caller.dialect.whole(answer, caller, channel).toString();
        const bytes = Buffer.from(stream);
        const streamed = play(answerSentTo(dialect, typeOf(wire), true, bytes), [bytes]).answer;
        for (const number of numbersIn(text)) {
          expect(allNumbersIn(written)).toContain(number);
          // An Anthropic client's arguments come in a text of their own.
          expect(allNumbersIn(streamed)).toContain(number);
        }
        expect(payloadsIn(streamed).length).toBeGreaterThan(0);
      }),
      { numRuns: 60 },
    );
  });
});

describe('an answer of the same dialect with a changed member', () => {
  const odd = '{"id":2512292042121000001,"n":[1.0,-0,1e400]}';

  test.each(protocols)('keeps the digits of its numbers when another usage is reported (%s)', (wire) => {
    const [whole, stream] = called[wire](odd);
    const golden = answerSentTo(wire, typeOf(wire), false, Buffer.from(whole));
    const written = golden.caller.dialect.withUsage(Buffer.from(whole), { input: 5, output: 7 }).toString();
    expect(numbersIn(written)).toContain('5');
    for (const number of numbersIn(odd)) expect(allNumbersIn(written)).toContain(number);

    // Spread over several lines, and settled with another usage than was reported.
    const { provider, channel, caller, info } = answerSentTo(wire, typeOf(wire), true, Buffer.alloc(0));
    const decoder = provider.protocol.stream({ provider, channel, caller, info });
    const first = decoder.push(Buffer.from(stream.replaceAll(/^data: \{"/gm, 'data: {\ndata: "')));
    const answer = `${first.bytes ?? ''}${decoder.end().bytes ?? ''}${decoder.closing({ input: 5, output: 7 })}`;
    for (const number of numbersIn(odd)) expect(allNumbersIn(answer)).toContain(number);
    expect(payloadsIn(answer).length).toBeGreaterThan(0);
  });

  test('keeps the digits of unknown members in a renumbered chunk', () => {
    const chunk = `{"id":"x","vendor":9223372036854775807,"choices":[{"index":0,"delta":{"tool_calls":[{"index":7,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"logprobs":{"p":-0.0},"finish_reason":null}]}`;
    const bytes = Buffer.from(`data: ${chunk}\n\n`);
    const { answer } = play(answerSentTo('openai', 1, true, bytes), [bytes]);
    expect(answer.split('\n')[0]).toBe(`data: ${chunk.replace('"index":7', '"index":0')}`);
  });
});
