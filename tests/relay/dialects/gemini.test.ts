import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../../src/relay/contracts/endpoint.js';
import { providerTools } from '../../../src/relay/contracts/neutral.js';
import { NotConvertible } from '../../../src/relay/contracts/protocol.js';
import { geminiArrayCaller, geminiCaller } from '../../../src/relay/dialects/gemini/dialect.js';
import { generateContent } from '../../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { jsonSchemaOf } from '../../../src/relay/dialects/gemini/json-schema-of.js';
import { neutralContent } from '../../../src/relay/dialects/gemini/to-neutral.js';
import { chat } from '../../../src/relay/dialects/openai/endpoints/chat.js';
import { isObject, type JsonObject, objectsIn, textIn } from '../../../src/relay/json/json.js';
import { conversation } from '../../../src/relay/protocols/gemini/contents.js';
import { neutralOf } from '../../../src/relay/protocols/neutral-of.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { inputTokens } from '../../support/given/input-tokens.js';
import {
  byteByByte,
  callerOf,
  cutEverywhere,
  type Golden,
  goldens,
  plainChannel,
  play,
  providerOfType,
  usualOptions,
} from '../providers/golden.js';

/* Callers in Gemini's dialect: byte for byte to and from its own wire, by meaning to and from any other. */

const gemini = providerOfType(24);
const info = { callId: 'call-1', model: 'gemini-2.5-flash', createdAt: 1_760_000_000 };

const nativeCaller = (body: JsonObject, stream: boolean, dialect = geminiCaller) => ({
  ...callerOf('chat', body),
  dialect,
  stream,
  wantsUsage: true,
  neutral: neutralOf(generateContent, body),
});

const spoken = (
  golden: Pick<Golden, 'provider' | 'channel'> & Partial<Pick<Golden, 'info'>>,
  dialect = geminiCaller,
): Golden =>
  ({
    provider: golden.provider,
    channel: { ...golden.channel, thinkingToContent: false, forceFormat: false },
    caller: nativeCaller({ contents: [] }, true, dialect),
    info: golden.info ?? info,
    expected: { settled: { input: 3, output: 1 } },
  }) as never;

const frameOf = (payload: unknown): string =>
  `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`;

/** What a stream or a body of either kind says. */
interface Said {
  text: string;
  thought: string;
  calls: { name: unknown; args: unknown }[];
  finish: string | null;
}

function saidIn(responses: readonly JsonObject[]): Said {
  const said: Said = { text: '', thought: '', calls: [], finish: null };
  for (const candidate of responses.flatMap(({ candidates }) => objectsIn(candidates))) {
    said.finish = textIn(candidate.finishReason) ?? said.finish;
    for (const part of objectsIn(isObject(candidate.content) ? candidate.content.parts : null)) {
      said[part.thought === true ? 'thought' : 'text'] += textIn(part.text) ?? '';
      if (isObject(part.functionCall)) said.calls.push({ name: part.functionCall.name, args: part.functionCall.args });
    }
  }
  return said;
}

const responsesIn = (answer: string): JsonObject[] =>
  answer
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.slice('data: '.length)));

/** Some serve others' models beside Google's. */
const speaksGemini = ({ name, provider }: Pick<Golden, 'name' | 'provider'>): boolean =>
  provider.type === 24 || name.startsWith('google-vertex/gemini-');
const own = goldens.filter((golden) => speaksGemini(golden) && golden.stream);

const folder = join(process.env.WIRE_FIXTURES ?? '', 'google');
const recorded =
  process.env.WIRE_FIXTURES === undefined || !existsSync(folder)
    ? []
    : readdirSync(folder)
        .filter((file) => file.endsWith('.chunks.txt'))
        .map((file) => {
          const lines = readFileSync(join(folder, file), 'utf8')
            .split('\n')
            .filter((line) => line.trim() !== '');
          return [file, Buffer.from(lines.map(frameOf).join(''))] as const;
        });

const nativeStreams = [...own.map(({ name, upstream }) => [name, upstream] as const), ...recorded];

describe.each(nativeStreams)('the stream %s to a caller of the same dialect', (_name, upstream) => {
  const golden = spoken({ provider: gemini, channel: plainChannel });
  const usage = play(golden, [upstream]).usage ?? { input: 1 };
  const written = (chunks: readonly Buffer[]): string => {
    const stream = gemini.protocol.stream({ provider: gemini, channel: plainChannel, caller: golden.caller, info });
    const out = [...chunks.map((chunk) => stream.push(chunk)), stream.end()].map(
      ({ bytes }) => bytes ?? Buffer.alloc(0),
    );
    return Buffer.concat([...out, stream.closing(stream.usage ?? usage)]).toString('utf8');
  };

  test('is passed on byte for byte, wherever the network cuts it', () => {
    const expected = upstream.toString('utf8');
    expect(written([upstream])).toBe(expected);
    expect(written(byteByByte(upstream))).toBe(expected);
    // Of what is long, every eighth place.
    const wrong: number[] = [];
    for (const { at, pieces } of cutEverywhere(upstream, upstream.length <= 4096 ? 1 : 8))
      if (written(pieces) !== expected) wrong.push(at);
    expect(wrong).toEqual([]);
  });

  test('withholds its end until the settlement', () => {
    const stream = gemini.protocol.stream({ provider: gemini, channel: plainChannel, caller: golden.caller, info });
    const before = Buffer.concat([stream.push(upstream), stream.end()].map(({ bytes }) => bytes ?? Buffer.alloc(0)));
    expect(saidIn(responsesIn(before.toString('utf8'))).finish).toBeNull();
    const closing = stream.closing({ input: 77, output: 5, reasoning: 2 }).toString('utf8');
    const last = responsesIn(closing).at(-1);
    expect(last?.usageMetadata).toMatchObject({ promptTokenCount: 77, candidatesTokenCount: 5, thoughtsTokenCount: 2 });
    expect(textIn(objectsIn(last?.candidates)[0]?.finishReason)).not.toBeNull();
  });

  test('is one JSON array for a caller that does not request events', () => {
    const { answer } = play(
      spoken({ provider: gemini, channel: plainChannel }, geminiArrayCaller),
      byteByByte(upstream),
    );
    expect(saidIn(JSON.parse(answer))).toEqual(saidIn(responsesIn(upstream.toString('utf8'))));
  });
});

const reasons: Readonly<Record<string, string>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  function_call: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
};
const foreign = goldens.filter(
  ({ name, provider, stream, caller, answer, expected }) =>
    !speaksGemini({ name, provider }) && stream && answer !== null && caller.mode === 'chat' && expected.finishReason,
);

describe.each(foreign.map((golden) => [golden.name, golden] as const))(
  'the stream %s to a caller in Gemini’s dialect',
  (_name, golden) => {
    const { answer, usage } = play(spoken(golden), [golden.upstream]);
    const responses = responsesIn(answer);

    test('has the same content, and ends with its finish reason and its usage', () => {
      const { text, thought, calls, finish } = saidIn(responses);
      const called = calls.map(({ name, args }) => `${name}${JSON.stringify(args)}`).join('');
      const sorted = (words: string) => [...words.replace(/\s/g, '')].sort().join('');
      // The order of words, thoughts and calls is the stream's, and told apart here.
      expect(sorted(text + thought + called)).toBe(sorted(golden.expected.text ?? ''));
      expect(calls.length).toBe(golden.expected.toolCalls);
      const expected = reasons[golden.expected.finishReason ?? ''] ?? 'OTHER';
      expect(finish).toBe(expected);
      expect(responses.findIndex(({ candidates }) => objectsIn(candidates)[0]?.finishReason !== undefined)).toBe(
        responses.length - 1,
      );
      const metadata = responses.at(-1)?.usageMetadata;
      if (usage !== null) expect(metadata).toMatchObject({ promptTokenCount: expect.any(Number) });
    });

    test('is the same when read byte by byte', () => {
      expect(play(spoken(golden), byteByByte(golden.upstream)).answer).toBe(answer);
    });
  },
);

test('a tool call whose arguments are not a JSON object is not passed on, and the answer says so', () => {
  const chunk = (delta: JsonObject, finish: string | null = null): string =>
    frameOf({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] });
  const call = (given: string): JsonObject => ({
    tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: given } }],
  });
  const upstream = Buffer.from(
    chunk(call('{"a":')) +
      chunk({ tool_calls: [{ index: 0, function: { arguments: '1' } }] }) +
      chunk({}, 'tool_calls'),
  );
  const responses = responsesIn(
    play(spoken({ provider: providerOfType(1), channel: plainChannel }), [upstream]).answer,
  );
  expect(saidIn(responses)).toMatchObject({ calls: [], finish: 'MALFORMED_FUNCTION_CALL' });
});

describe('a Gemini request to a Gemini upstream', () => {
  const body = {
    model: 'gemini-2.5-flash',
    contents: [{ role: 'user', parts: [{ text: 'x' }, { someday: { a: 1 } }] }],
    generation_config: { max_output_tokens: 900, topK: 3 },
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    service_tier: 'priority',
    unknown: [1, 2],
  };
  const sent = (changed: object = {}, model = 'gemini-2.5-flash') => {
    const caller = { ...nativeCaller(body, false), ...changed };
    return JSON.parse(
      wordsOf(
        gemini.protocol.request({ provider: gemini, channel: plainChannel, caller, model, options: usualOptions })
          .content,
      ),
    );
  };

  test('is passed on unchanged, except for the model, which is in the address, and options that cost more than the price', () => {
    const { model: _, service_tier: __, ...rest } = body;
    expect(sent()).toEqual(rest);
  });

  test('carries the output limit that was reserved for', () => {
    expect(sent({ maxOutput: 500 })).toMatchObject({ generationConfig: { maxOutputTokens: 500, topK: 3 } });
    expect(sent({ outputLimit: 40 })).toMatchObject({ generationConfig: { maxOutputTokens: 40, topK: 3 } });
    expect(sent({ outputLimit: 40 })).not.toHaveProperty('generation_config');
  });

  test('thinks as the suffix of the model name says', () => {
    expect(sent({}, 'gemini-2.5-flash-nothinking').generationConfig).toMatchObject({
      thinkingConfig: { thinkingBudget: 0 },
    });
  });

  test('names the model in every text to be embedded', () => {
    const requests = [{ model: 'models/other', content: { parts: [{ text: 'a' }] } }];
    const caller = { ...nativeCaller({ model: 'gemini-embedding-001', requests }, false), mode: 'embeddings' as const };
    const { url, content } = gemini.protocol.request({
      provider: gemini,
      channel: plainChannel,
      caller,
      model: 'gemini-embedding-001',
      options: usualOptions,
    });
    expect(url).toMatch(/gemini-embedding-001:batchEmbedContents$/);
    expect(JSON.parse(wordsOf(content))).toEqual({
      requests: [{ ...requests[0], model: 'models/gemini-embedding-001' }],
    });
  });
});

describe('a Gemini request in the neutral form', () => {
  test('keeps everything that the neutral form can express', () => {
    const body = {
      model: 'm',
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        {
          parts: [
            { text: 'What is this?' },
            { inline_data: { mime_type: 'image/png', data: 'aGk=' } },
            { inlineData: { mimeType: 'audio/mpeg', data: 'aGk=' } },
            { inlineData: { mimeType: 'application/pdf', data: 'aGk=' } },
            { fileData: { mimeType: 'image/jpeg', fileUri: 'https://a.example/cat' } },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: 'Hm.', thought: true },
            { functionCall: { name: 'f', args: { a: 1 } } },
            { functionCall: { name: 'f', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'f', response: { b: 2 } } },
            { functionResponse: { name: 'f', response: {} } },
            { text: 'Well?' },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'f',
              description: 'F',
              parameters: { type: 'OBJECT', properties: { a: { type: 'INTEGER', nullable: true, minItems: '2' } } },
            },
            { name: 'g' },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
      generationConfig: {
        maxOutputTokens: 10,
        topP: 0.5,
        stopSequences: ['x'],
        candidateCount: 2,
        responseMimeType: 'application/json',
        responseSchema: { type: 'ARRAY', items: { type: 'STRING', enum: ['a'] } },
        thinkingConfig: { thinkingBudget: 2000 },
      },
    };
    expect(neutralContent(body, true).body).toEqual({
      model: 'm',
      stream: true,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
            { type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } },
            { type: 'file', file: { filename: 'file', file_data: 'data:application/pdf;base64,aGk=' } },
            { type: 'image_url', image_url: { url: 'https://a.example/cat' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'Hm.',
          tool_calls: [
            { id: 'call_0', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_0', content: '{"b":2}' },
        { role: 'tool', tool_call_id: 'call_1', content: '{}' },
        { role: 'user', content: 'Well?' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            description: 'F',
            parameters: { type: 'object', properties: { a: { type: ['integer', 'null'], minItems: 2 } } },
          },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      max_tokens: 10,
      top_p: 0.5,
      stop: ['x'],
      n: 2,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'response', schema: { type: 'array', items: { type: 'string', enum: ['a'] } } },
      },
      reasoning_effort: 'medium',
    });
  });

  test('keeps the pictures of a tool result beside its text', () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'aGk=' } };
    const functionResponse = { name: 'f', response: { a: 1 }, parts: [picture] };
    const contents = [{ role: 'model', parts: [{ functionCall: { name: 'f' } }] }, { parts: [{ functionResponse }] }];
    expect(neutralContent({ contents }, false).body.messages).toMatchObject([
      { role: 'assistant' },
      { role: 'tool', content: [{ type: 'text', text: '{"a":1}' }, { type: 'image_url' }] },
    ]);
  });

  test.each<[JsonObject, RegExp]>([
    [{ contents: [{ parts: [{ someday: {} }] }] }, /^contents\[0\]\.parts\[0\] .* allowed are text/],
    [{ contents: [{ parts: [{ functionResponse: { name: 'f' } }] }] }, /^contents\[0\]\.parts\[0\]\.functionResponse/],
    [{ contents: [], tools: [{ codeExecution: {} }] }, /^tools\[0\]\.codeExecution/],
  ])('is refused if it has a member that the neutral form lacks: %j', (body, message) => {
    expect(() => neutralContent(body, false)).toThrow(NotConvertible);
    expect(() => neutralContent(body, false)).toThrow(message);
  });

  const text = fc.string({ minLength: 1, maxLength: 12 });
  const name = fc.constantFrom('weather', 'search', 'now');
  const args = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(fc.string(), fc.integer(), fc.boolean()), {
    noNullPrototype: true,
  });
  const media = fc
    .constantFrom('image/png', 'application/pdf')
    .map((mimeType) => ({ inlineData: { mimeType, data: 'aGVsbG8=' } }));
  const userTurn = fc
    .array(
      fc.oneof(
        text.map((words) => ({ text: words })),
        media,
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((parts) => [{ role: 'user', parts }]);
  const calling = fc.array(fc.record({ name, args, result: args }), { minLength: 1, maxLength: 4 }).map((calls) => [
    { role: 'model', parts: calls.map((call) => ({ functionCall: { name: call.name, args: call.args } })) },
    { role: 'user', parts: calls.map((call) => ({ functionResponse: { name: call.name, response: call.result } })) },
  ]);
  const answering = text.map((words) => [{ role: 'model', parts: [{ text: words }] }]);
  const turns = fc.array(fc.tuple(userTurn, fc.oneof(answering, calling)), { minLength: 1, maxLength: 5 });

  /** Neighbours of one role as one turn, and neighbouring texts as one text. */
  const joined = (contents: readonly JsonObject[]): JsonObject[] => {
    const merged: { role: unknown; parts: JsonObject[] }[] = [];
    for (const { role, parts } of contents) {
      const last = merged.at(-1);
      if (last !== undefined && last.role === role) last.parts.push(...objectsIn(parts));
      else merged.push({ role, parts: [...objectsIn(parts)] });
    }
    return merged.map(({ role, parts }) => {
      const all: JsonObject[] = [];
      for (const part of parts) {
        const before = all.at(-1);
        if (typeof part.text === 'string' && typeof before?.text === 'string') before.text += part.text;
        else all.push({ ...part });
      }
      return { role: String(role), parts: all };
    });
  };

  test('is the same conversation when converted back to Gemini', () => {
    fc.assert(
      fc.property(turns, (given) => {
        const contents = given.flat(2) as JsonObject[];
        const { messages } = neutralContent({ contents }, false).body;
        const again = conversation(messages, { withoutInstructions: false, signsCalls: false, fetched: new Map() });
        expect(joined(again.contents)).toEqual(joined(contents));
      }),
      { numRuns: 300 },
    );
  });

  test('an answer in Gemini’s dialect, cut anywhere, reads as the same answer', () => {
    const piece = fc.oneof(
      text.map((content) => ({ content })),
      text.map((thought) => ({ reasoning_content: thought })),
    );
    const calls = fc.array(fc.record({ name, args }), { maxLength: 3 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), calls, fc.nat(), (pieces, called, cut) => {
        const chunks = [
          ...pieces.map((delta) => ({ id: 'x', choices: [{ index: 0, delta }] })),
          ...called.map((call, index) => ({
            id: 'x',
            choices: [
              {
                index: 0,
                delta: {
                  tool_calls: [
                    { index, id: `c${index}`, function: { name: call.name, arguments: JSON.stringify(call.args) } },
                  ],
                },
              },
            ],
          })),
          { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: called.length > 0 ? 'tool_calls' : 'stop' }] },
          { id: 'x', choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } },
        ];
        const asGemini = play(spoken({ provider: providerOfType(1), channel: plainChannel }), [
          Buffer.from(chunks.map(frameOf).join('')),
        ]);
        const bytes = Buffer.from(asGemini.answer);
        const at = cut % bytes.length;
        const openAi = callerOf('chat', { model: 'm', stream: true });
        const again = play({ ...spoken({ provider: gemini, channel: plainChannel }), caller: openAi }, [
          bytes.subarray(0, at),
          bytes.subarray(at),
        ]);
        const said = { content: '', thought: '' };
        for (const delta of pieces) {
          if ('content' in delta) said.content += delta.content;
          else said.thought += delta.reasoning_content;
        }
        const read = responsesIn(again.answer.replace('data: [DONE]\n\n', ''))
          .flatMap(({ choices }) => objectsIn(choices))
          .map(({ delta }) => (isObject(delta) ? delta : {}));
        expect(read.map(({ content }) => content ?? '').join('')).toBe(said.content);
        expect(read.map(({ reasoning_content: thought }) => thought ?? '').join('')).toBe(said.thought);
        const functions = read
          .flatMap(({ tool_calls: written }) => objectsIn(written))
          .map((call) => call.function as JsonObject);
        expect(functions.map((one) => ({ name: one.name, args: JSON.parse(String(one.arguments)) }))).toEqual(called);
        expect(again.usage).toEqual({ input: 5, output: 7 });
        expect(again.generated.finishReason).toBe(called.length > 0 ? 'tool_calls' : 'stop');
      }),
      { numRuns: 300 },
    );
  });
});

describe('a reference in a Gemini request', () => {
  const file = { file_data: { file_uri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } };

  test.each<[string, JsonObject, string]>([
    ['a file stored by the provider', { contents: [{ parts: [file] }] }, 'contents[0].parts[0].fileData.fileUri'],
    [
      'a file in a tool result',
      { contents: [{ parts: [{ functionResponse: { name: 'f', parts: [file] } }] }] },
      'contents[0].parts[0].functionResponse.parts[0].fileData.fileUri',
    ],
    [
      'a file in the instructions',
      { contents: [{ parts: [{ text: 'x' }] }], system_instruction: { parts: [file] } },
      'systemInstruction.parts[0].fileData.fileUri',
    ],
    [
      'content cached by the provider',
      { contents: [{ parts: [{ text: 'x' }] }], cached_content: 'a' },
      'cachedContent',
    ],
    [
      'an unlimited output',
      { contents: [{ parts: [{ text: 'x' }] }], generation_config: { max_output_tokens: 0 } },
      'generationConfig.maxOutputTokens',
    ],
  ])('is refused: %s', (_what, body, param) => {
    expect(generateContent.invalid({ model: 'm', ...body }, null)).toMatchObject({ param });
  });
});

test('a reservation covers input unknown before the upstream reads it: pages that tools fetch, films', () => {
  const names = new Set(['gemini-2.5-flash']);
  const prompt = (endpoint: Endpoint, body: JsonObject) =>
    inputTokens(
      endpoint.demand({ body, bytes: 1_000, model: 'gemini-2.5-flash', names, upload: null, switched: providerTools })
        .prompt,
    );
  const contents = [{ parts: [{ text: 'x' }] }];
  const plain = prompt(generateContent, { contents, tools: [{ functionDeclarations: [] }] });
  const reading = prompt(generateContent, { contents, tools: [{ urlContext: {} }] });
  expect(reading.expected).toBe(plain.expected);
  expect(reading.conservative - plain.conservative).toBe(16_384);
  expect(reading.max - plain.max).toBe(1_048_576);
  // A film by its address is as long as nobody here knows.
  const film = { fileData: { fileUri: 'https://films.example/long' } };
  expect(prompt(generateContent, { contents: [{ parts: [film] }] }).max).toBeGreaterThan(2_097_152);
  const asked = (name: string) =>
    prompt(chat, { messages: [{ role: 'user', content: 'x' }], tools: [{ type: 'function', function: { name } }] });
  expect(asked('urlContext').max - asked('urlcontext').max).toBe(1_048_576);
});

test('pictures are counted as pictures wherever they are, and not as text', () => {
  const names = new Set(['gemini-2.5-flash']);
  const expected = (part: JsonObject) =>
    generateContent.demand({
      body: { contents: [{ parts: [part] }] },
      bytes: 100_000,
      model: 'gemini-2.5-flash',
      names,
      upload: null,
    }).prompt.expected;
  const picture = { inlineData: { mimeType: 'image/png', data: 'aGVsbG8gd29ybGQg'.repeat(5_000) } };
  expect(expected(picture)).toBeLessThan(2_000);
  expect(expected({ functionResponse: { name: 'f', response: {}, parts: [picture] } })).toBeLessThan(2_000);
});

test('a schema of Gemini’s converts to the equivalent JSON Schema', () => {
  const schema = {
    type: 'OBJECT',
    properties: { a: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER', example: 3 }] } },
    required: ['a'],
    maxProperties: '3',
  };
  expect(jsonSchemaOf(schema)).toEqual({
    type: 'object',
    properties: { a: { anyOf: [{ type: 'string' }, { type: 'number', examples: [3] }] } },
    required: ['a'],
    maxProperties: 3,
  });
});

describe('a stream of another protocol that ends without a finish reason', () => {
  const written = (delta: JsonObject): JsonObject => {
    const writer = geminiCaller.writer(callerOf('chat', { model: 'm' }), plainChannel, info);
    writer.write({ id: 'x', choices: [{ index: 0, delta, finish_reason: null }] }, 0);
    const bytes = Buffer.concat([writer.take() ?? Buffer.alloc(0), writer.closing({ input: 1, output: 1 })]);
    const last = bytes.toString('utf8').trim().split('data: ').at(-1) ?? '';
    return objectsIn((JSON.parse(last) as JsonObject).candidates)[0] ?? {};
  };

  test('gets a finish reason for clients that recognise a complete answer by it', () => {
    expect(written({ content: 'Hello' })).toMatchObject({ finishReason: 'STOP', index: 0 });
  });

  test('keeps its tool calls', () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"a":1}' } };
    expect(written({ tool_calls: [call] })).toMatchObject({
      finishReason: 'STOP',
      content: { parts: [{ functionCall: { name: 'read', args: { a: 1 } } }] },
    });
  });
});
