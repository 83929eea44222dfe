import { describe, expect, test } from 'vitest';
import { sealOf } from '../../../src/relay/contracts/neutral.js';
import { NotConvertible, type RequestOptions } from '../../../src/relay/contracts/protocol.js';
import { geminiCaller } from '../../../src/relay/dialects/gemini/dialect.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { geminiSchema } from '../../../src/relay/protocols/gemini/schema.js';
import { geminiUsage } from '../../../src/relay/protocols/gemini/usage.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, play, providerOfType, usualOptions } from './golden.js';

/* What the golden cases of the wire do not show: suffixes and efforts, schemas, and what is not taken. */

const provider = providerOfType(24);

interface CallInput {
  readonly body?: JsonObject;
  readonly model?: string;
  readonly outputLimit?: number;
  readonly maxOutput?: number;
  readonly channel?: object;
  readonly options?: Partial<RequestOptions>;
}

const question = [{ role: 'user', content: 'x' }];

function ask({ body = {}, model = 'gemini-2.5-flash', outputLimit, maxOutput, channel, options }: CallInput) {
  const caller = {
    ...callerOf('chat', { model, messages: question, ...body }, '', null, outputLimit ?? null),
    ...(maxOutput !== undefined && { maxOutput }),
  };
  const request = provider.protocol.request({
    provider,
    channel: { ...plainChannel, ...channel },
    caller,
    model,
    options: {
      ...usualOptions,
      ...options,
    },
  });
  return { ...request, body: JSON.parse(wordsOf(request.content)) };
}

const refusal = (input: CallInput): string => {
  try {
    ask(input);
  } catch (error) {
    if (error instanceof NotConvertible && error.fault === 'caller') return error.message;
    throw error;
  }
  throw new Error('it was taken');
};

describe('the thinking of Gemini', () => {
  const shown = { includeThoughts: true };

  test.each<[string, string, JsonObject, JsonObject | undefined]>([
    ['gemini-2.5-flash', 'nothing is said', {}, undefined],
    ['gemini-2.5-flash', 'an effort', { reasoning_effort: 'medium' }, { ...shown, thinkingBudget: 8192 }],
    ['gemini-2.5-flash', 'no effort', { reasoning_effort: 'none' }, { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'no effort, which it does not know', { reasoning_effort: 'none' }, { thinkingBudget: 128 }],
    ['gemini-2.5-pro', 'the highest effort', { reasoning_effort: 'xhigh' }, { ...shown, thinkingBudget: 32_768 }],
    ['gemini-3-flash-preview', 'an effort', { reasoning_effort: 'medium' }, { ...shown, thinkingLevel: 'medium' }],
    ['gemini-3-pro-preview', 'the least effort', { reasoning_effort: 'minimal' }, { ...shown, thinkingLevel: 'low' }],
    [
      'gemini-2.5-flash',
      'a budget',
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      { ...shown, thinkingBudget: 2000 },
    ],
    [
      'gemini-2.5-flash',
      'too large a budget',
      { thinking: { type: 'enabled', budget_tokens: 99_999 } },
      { ...shown, thinkingBudget: 24_576 },
    ],
    ['gemini-2.5-flash', 'that there is to be none', { thinking: { type: 'disabled' } }, { thinkingBudget: 0 }],
    [
      'gemini-3.5-flash',
      'a budget',
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      { ...shown, thinkingLevel: 'medium' },
    ],
    ['gemini-2.0-flash', 'an effort, where there is no thinking', { reasoning_effort: 'high' }, undefined],
    ['gemini-2.5-flash-thinking', 'a suffix', { max_tokens: 1000 }, { ...shown, thinkingBudget: 600 }],
    ['gemini-2.5-flash-thinking', 'a suffix and no limit', {}, { ...shown, thinkingBudget: 24_576 }],
    [
      'gemini-2.5-flash-lite-thinking',
      'a suffix and a small limit',
      { max_tokens: 100 },
      { ...shown, thinkingBudget: 512 },
    ],
    ['gemini-2.5-flash-thinking-4096', 'a suffix with a budget', {}, { ...shown, thinkingBudget: 4096 }],
    ['gemini-2.5-flash-nothinking', 'a suffix against it', { reasoning_effort: 'high' }, { thinkingBudget: 0 }],
    ['gemini-2.5-pro-nothinking', 'a suffix against it', {}, { thinkingBudget: 128 }],
  ])('of %s is sent with the budget for: %s', (model, _said, body, expected) => {
    const asked = ask({ model, body });
    expect(asked.body.generationConfig.thinkingConfig).toEqual(expected);
    expect(asked.url).not.toMatch(/thinking/);
  });

  test('follows the suffix of the requested name where the name is mapped', () => {
    const caller = callerOf('chat', { model: 'mine-nothinking', messages: question });
    const { content, model } = provider.protocol.request({
      provider,
      channel: plainChannel,
      caller,
      model: 'gemini-2.5-flash',
      options: usualOptions,
    });
    expect(model).toBe('gemini-2.5-flash');
    expect(JSON.parse(wordsOf(content)).generationConfig.thinkingConfig).toEqual({ thinkingBudget: 0 });
  });

  test('is not derived from names unless the operator says so', () => {
    const gemini = { ...usualOptions.gemini, thinkingAdapter: false };
    const { url, body } = ask({ model: 'gemini-2.5-flash-thinking', options: { gemini } });
    expect(url).toContain('gemini-2.5-flash-thinking:');
    expect(body.generationConfig).toEqual({});
  });
});

describe('the address of a Gemini request', () => {
  const gemini = {
    ...usualOptions.gemini,
    versions: new Map([
      ['default', 'v1beta'],
      ['gemini-1.0-pro', 'v1'],
    ]),
  };

  test.each([
    ['gemini-2.5-flash', '', '/v1beta/models/gemini-2.5-flash:'],
    ['gemini-2.5-flash', 'v1alpha', '/v1alpha/models/gemini-2.5-flash:'],
    ['gemini-1.0-pro', 'v1alpha', '/v1/models/gemini-1.0-pro:'],
    ['models/gemini-2.5-flash', '', '/v1beta/models/gemini-2.5-flash:'],
    ['a/../b?x=1#', '', '/v1beta/models/a%2F..%2Fb%3Fx%3D1%23:'],
  ])('of %s has the API version where the channel says %j', (model, version, expected) => {
    expect(ask({ model, channel: { other: version }, options: { gemini } }).url).toContain(expected);
  });

  test('does not contain the key', () => {
    const { url, headers } = ask({ channel: { key: 'AIzaSecret0123456789' } });
    expect(url).not.toContain('AIza');
    expect(headers['x-goog-api-key']).toBe('AIzaSecret0123456789');
  });
});

describe('the output limit of a Gemini request', () => {
  test('is the affordable one, and no operator’s parameter raises it', () => {
    expect(ask({ outputLimit: 300 }).body.generationConfig.maxOutputTokens).toBe(300);
    expect(ask({ body: { max_tokens: 900 }, maxOutput: 500 }).body.generationConfig.maxOutputTokens).toBe(500);
    const channel = { paramOverride: { generationConfig: { maxOutputTokens: 5000, topK: 3 } } };
    expect(ask({ channel, maxOutput: 700 }).body.generationConfig).toEqual({ maxOutputTokens: 700, topK: 3 });
  });
});

describe('a request of Google’s own clients', () => {
  const sent = (contents: JsonObject[]) => {
    const body = { contents };
    const caller = { ...callerOf('chat', body), dialect: geminiCaller };
    const { content } = provider.protocol.request({
      provider,
      channel: plainChannel,
      caller,
      model: 'gemini-2.5-flash',
      options: usualOptions,
    });
    return JSON.parse(wordsOf(content)).contents;
  };
  const thought = { text: 'One town.', thought: true };

  test('loses the thinking signatures of other vendors, which a conversation with their models may contain', () => {
    const seal = sealOf({ type: 'reasoning.text', signature: 'EqQBCkYIBxgC' });
    const rest = { text: 'Rain.', thoughtSignature: 'Q2pRQg==' };
    const question = { role: 'user', parts: [{ text: 'And now?' }] };
    for (const signed of [
      { ...thought, thoughtSignature: seal },
      { ...thought, thought_signature: seal },
    ])
      expect(sent([{ role: 'model', parts: [signed, rest] }, question])).toEqual([
        { role: 'model', parts: [thought, rest] },
        question,
      ]);
  });

  test('keeps Google’s own signatures', () => {
    const contents = [{ role: 'model', parts: [{ ...thought, thoughtSignature: 'YW50aHJvcGlj' }] }];
    expect(sent(contents)).toEqual(contents);
  });
});

describe('the safety setting of a Gemini request', () => {
  test('is the operator’s for each category of harm, or for all others', () => {
    const safety = new Map([
      ['default', 'BLOCK_ONLY_HIGH'],
      ['HARM_CATEGORY_HARASSMENT', 'BLOCK_NONE'],
    ]);
    const { safetySettings } = ask({ options: { gemini: { ...usualOptions.gemini, safety } } }).body;
    expect(safetySettings.map(({ threshold }: JsonObject) => threshold)).toEqual([
      'BLOCK_NONE',
      ...Array(4).fill('BLOCK_ONLY_HIGH'),
    ]);
  });
});

describe('content that Gemini cannot carry', () => {
  const saying = (...content: JsonObject[]): CallInput => ({ body: { messages: [{ role: 'user', content }] } });

  test.each<[string, CallInput, RegExp]>([
    [
      'a file of another service',
      saying({ type: 'file', file: { file_id: 'file-1' } }),
      /^messages\[0\]\.content\[0\]\.file\.file_id/,
    ],
    [
      'a part of an unknown kind',
      saying({ type: 'hologram' }),
      /^messages\[0\]\.content\[0\]\.type .* allowed are text/,
    ],
    [
      'a file in the account of the channel',
      saying({ type: 'image_url', image_url: { url: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } }),
      /^messages\[0\]\.content\[0\]\.image_url\.url/,
    ],
    ['a file in a bucket', saying({ type: 'image_url', image_url: { url: 'gs://bucket/cat.png' } }), /image_url\.url/],
    [
      'too many images',
      saying(
        ...Array.from({ length: 17 }, () => ({ type: 'image_url', image_url: { url: 'https://a.example/a.png' } })),
      ),
      /^messages\[0\]\.content holds more than 16 images/,
    ],
    [
      'arguments that are not an object',
      {
        body: {
          messages: [
            ...question,
            { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '[1' } }] },
          ],
        },
      },
      /^messages\[1\]\.tool_calls\[0\]\.function\.arguments/,
    ],
    [
      'the result of no tool call',
      { body: { messages: [...question, { role: 'tool', tool_call_id: 'a', content: '1' }] } },
      /^messages\[1\]\.tool_call_id/,
    ],
    ['too many stop sequences', { body: { stop: ['a', 'b', 'c', 'd', 'e', 'f'] } }, /^stop/],
    ['a tool that is not a function', { body: { tools: [{ type: 'code_interpreter' }] } }, /^tools\[0\]\.type/],
    ['audio in another format', { body: { audio: { format: 'mp3' }, modalities: ['audio'] } }, /^audio\.format/],
  ])('is refused by name: %s', (_what, input, message) => {
    expect(refusal(input)).toMatch(message);
  });

  test('is refused if it is token ids to be embedded', () => {
    const caller = callerOf('embeddings', { model: 'gemini-embedding-001', input: [1, 2] });
    expect(() =>
      provider.protocol.request({
        provider,
        channel: plainChannel,
        caller,
        model: 'gemini-embedding-001',
        options: usualOptions,
      }),
    ).toThrow(/^input\[0\]/);
  });
});

describe('the instructions of a Gemini request', () => {
  test('are sent as the beginning of the user’s message where the model takes none', () => {
    const messages = [{ role: 'system', content: 'Be brief.' }, ...question];
    const { body } = ask({ model: 'gemma-3-27b-it', body: { messages } });
    expect(body).not.toHaveProperty('systemInstruction');
    expect(body.contents).toEqual([{ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'x' }] }]);
  });
});

describe('a JSON schema for Gemini', () => {
  const text = { type: 'string' };

  test.each<[string, JsonObject, JsonObject]>([
    [
      'of several types',
      { type: ['string', 'integer', 'null'] },
      { nullable: true, anyOf: [text, { type: 'integer' }] },
    ],
    [
      'that is nullable',
      { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] },
      { nullable: true, type: 'string', maxLength: 3 },
    ],
    ['of alternatives', { oneOf: [text, { const: 5 }] }, { anyOf: [text, { type: 'string', enum: ['5'] }] }],
    [
      'of several schemas at once',
      {
        type: 'object',
        allOf: [{ $ref: '#/$defs/a' }],
        properties: { b: text },
        required: ['b'],
        $defs: { a: { type: 'object', properties: { a: text }, required: ['a'] } },
      },
      { type: 'object', properties: { a: text, b: text }, required: ['b', 'a'] },
    ],
    [
      'that refers to itself',
      { type: 'object', properties: { next: { $ref: '#' } } },
      { type: 'object', properties: { next: { type: 'object', properties: { next: { type: 'object' } } } } },
    ],
    ['of a list of any items', { type: 'array' }, { type: 'array', items: text }],
    ['with unsupported members', { type: 'string', format: 'email', default: 'x', examples: ['y'], title: 'T' }, text],
    [
      'with a name that objects inherit',
      { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') },
      { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') },
    ],
  ])('%s is simplified', (_what, given, expected) => {
    expect(geminiSchema(given, 'schema')).toEqual(expected);
  });

  test('that expands without end when its references are followed is refused', () => {
    const names = Array.from({ length: 40 }, (_, at) => `n${at}`);
    const $defs = Object.fromEntries(
      names.map((name, at) => [
        name,
        {
          type: 'object',
          properties: {
            a: { $ref: `#/$defs/${names[at + 1] ?? 'end'}` },
            b: { $ref: `#/$defs/${names[at + 1] ?? 'end'}` },
          },
        },
      ]),
    );
    const schema = { $ref: '#/$defs/n0', $defs: { ...$defs, end: text } };
    expect(() => geminiSchema(schema, 'tools[0].function.parameters')).toThrow(
      /^tools\[0\]\.function\.parameters is larger/,
    );
    expect(() => geminiSchema({ $ref: '#/$defs/nowhere' }, 'schema')).toThrow(/^schema refers to a schema/);
  });
});

describe('the usage that Gemini reports', () => {
  const modal = (modality: string, tokenCount: number): JsonObject => ({ modality, tokenCount });

  test.each<[string, JsonObject, object | null]>([
    ['is empty where only its kind is given', { trafficType: 'ON_DEMAND' }, null],
    [
      'is derived from the total where the answer is not counted',
      { promptTokenCount: 5, totalTokenCount: 12, thoughtsTokenCount: 4 },
      { input: 5, output: 3, reasoning: 4 },
    ],
    [
      'separates audio and pictures',
      {
        promptTokenCount: 500,
        promptTokensDetails: [modal('TEXT', 42), modal('IMAGE', 258), modal('AUDIO', 200)],
        candidatesTokenCount: 1340,
        candidatesTokensDetails: [modal('IMAGE', 1290), modal('TEXT', 50)],
      },
      { input: 42, imageInput: 258, audioInput: 200, output: 50, imageOutput: 1290 },
    ],
    [
      'separates cached input, of whatever kind',
      {
        promptTokenCount: 300,
        cachedContentTokenCount: 250,
        promptTokensDetails: [modal('TEXT', 100), modal('AUDIO', 200)],
        cacheTokensDetails: [modal('TEXT', 50), modal('AUDIO', 200)],
      },
      { input: 50, cachedInput: 250 },
    ],
    [
      'separates thinking from the answer',
      { promptTokenCount: 26, candidatesTokenCount: 23, totalTokenCount: 181, thoughtsTokenCount: 132 },
      { input: 26, output: 23, reasoning: 132 },
    ],
    [
      'is never negative',
      {
        promptTokenCount: 10,
        cachedContentTokenCount: 99,
        promptTokensDetails: [modal('AUDIO', 50)],
        candidatesTokenCount: -4,
      },
      { cachedInput: 10 },
    ],
    [
      'includes the input that tools read',
      { promptTokenCount: 10, toolUsePromptTokenCount: 90, candidatesTokenCount: 1 },
      { input: 100, output: 1 },
    ],
  ])('%s', (_what, reported, expected) => {
    expect(geminiUsage(reported)).toEqual(expected);
  });
});

describe('a tool call whose arguments arrive piece by piece', () => {
  const streamed = (pieces: readonly JsonObject[]) => {
    const parts = [
      { name: 'f', willContinue: true },
      ...pieces.map((piece) => ({ partialArgs: [piece], willContinue: true })),
      {},
    ];
    const frames = parts.map((functionCall) => ({ candidates: [{ content: { parts: [{ functionCall }] } }] }));
    const upstream = Buffer.from(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''));
    const caller = callerOf('chat', { model: 'm', stream: true });
    return play(
      {
        provider,
        channel: plainChannel,
        caller,
        info: { callId: 'c', model: 'm', createdAt: 0 },
        expected: {},
      } as never,
      [upstream],
    );
  };

  test('may have any name in it', () => {
    const { generated } = streamed([{ jsonPath: '$.__proto__.polluted', stringValue: 'x' }]);
    expect(generated.text).toBe('f{"__proto__":{"polluted":"x"}}');
    expect({}).not.toHaveProperty('polluted');
  });

  test.each([['$'], ['$.a[70000]'], [`$${'.a'.repeat(65)}`], ['$.a['], ['a']])(
    'ends the stream at the path %s',
    (jsonPath) => {
      expect(streamed([{ jsonPath, stringValue: 'x' }]).error).toMatchObject({
        status: 502,
        code: 'bad_response_body',
      });
    },
  );
});
