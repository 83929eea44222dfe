import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PaidMode } from '../../src/domain/channel/provider.js';
import { outputAllowed } from '../../src/relay/dialects/openai/limits.js';
import type { JsonObject } from '../../src/relay/json/json.js';
import { countTokens } from '../../src/relay/text/tokens.js';
import { inputTokens } from '../support/given/input-tokens.js';
import { endpoints } from '../support/upstreams/endpoints.js';

const model = 'gpt-4o';
const estimate = (mode: PaidMode, name: string, body: JsonObject, sentAs = name) =>
  inputTokens(
    endpoints[mode].demand({
      body,
      bytes: Buffer.byteLength(JSON.stringify(body)),
      model: name,
      names: new Set([name, sentAs]),
      upload: null,
    }).prompt,
  );
const chat = (body: JsonObject, name = model): number => estimate('chat', name, body).expected;
const user = (content: JsonObject['content']): JsonObject => ({ messages: [{ role: 'user', content }] });

/** What one user message costs around its content: 3 for the message, 1 for the role, 3 for the reply. */
const frame = 7;

describe('the estimate of a chat prompt', () => {
  test('counts three tokens per message and three for the reply, beside role and content', () => {
    expect(chat(user('hello world'))).toBe(frame + 2);
    const two = [
      { role: 'system', content: 'hello' },
      { role: 'user', content: 'hello world' },
    ];
    expect(chat({ messages: two })).toBe(3 + 1 + 1 + (3 + 1 + 2) + 3);
  });

  test('counts a name and one more token, but only beside content', () => {
    const named = (content: string) => ({ messages: [{ role: 'user', name: 'alice', content }] });
    const name = countTokens(model, 'alice');
    expect(chat(named('hello world'))).toBe(frame + 2 + 1 + name);
    expect(chat(named(''))).toBe(frame);
  });

  test('counts the oldest turbo model by its own rule', () => {
    const named = { messages: [{ role: 'user', name: 'alice', content: 'hi' }] };
    expect(chat(named, 'gpt-3.5-turbo-0301')).toBe(4 + 1 + 1 + countTokens('gpt-4', 'alice') - 1 + 3);
  });

  test('counts every tool, and eight tokens for all tools', () => {
    const tool = (name: string) => ({
      type: 'function',
      function: { name, description: 'Tells the weather', parameters: { type: 'object' } },
    });
    const each = (name: string) => countTokens(model, [name, 'Tells the weather', '{"type":"object"}']);
    expect(chat({ ...user('hi'), tools: [tool('now'), tool('tomorrow')] })).toBe(
      chat(user('hi')) + 8 + each('now') + each('tomorrow'),
    );
  });

  test('counts the tool calls and tool results of earlier turns', () => {
    const called = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
    const messages = [
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: 'c1', content: 'rain and more rain' },
    ];
    const texts = ['assistant', 'weather', '{"city":"Oslo"}', 'tool', 'rain and more rain'];
    expect(chat({ messages })).toBe(3 + 3 + 3 + countTokens(model, texts));
  });

  test('counts 100 tokens for audio and 5000 for a file', () => {
    const parts = [
      { type: 'text', text: 'hello world' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } },
    ];
    expect(chat(user(parts))).toBe(frame + 2 + 100 + 5000);
  });
});

/* Files cut off after the part that states the size. */
const png = (width: number, height: number): Buffer => {
  const bytes = Buffer.from(`89504e470d0a1a0a0000000d49484452${'00'.repeat(17)}`, 'hex');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
const gif = (width: number, height: number): Buffer => {
  const bytes = Buffer.from(`474946383961${'00'.repeat(10)}`, 'hex');
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
};
const jpeg = (width: number, height: number): Buffer => {
  const preview = Buffer.concat([Buffer.from('ffe1', 'hex'), Buffer.from([0x40, 0x00]), Buffer.alloc(0x3ffe, 0xc0)]);
  const frameStart = Buffer.from('ffc000110800000000031100', 'hex');
  frameStart.writeUInt16BE(height, 5);
  frameStart.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from('ffd8', 'hex'), preview, frameStart]);
};
const webp = (kind: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(32);
  bytes.write(`RIFF\0\0\0\0WEBP${kind}`, 'latin1');
  if (kind === 'VP8 ') {
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
  } else if (kind === 'VP8L') bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  else {
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
  }
  return bytes;
};

const dataUrl = (bytes: Buffer): string => `data:image/unknown;base64,${bytes.toString('base64')}`;

const imageCost = (url: string, name = model, detail?: string): number => {
  const part = { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } };
  return chat(user([part]), name) - chat(user(''), name);
};

describe('the estimate of an image', () => {
  test.each([
    ['a PNG', png(1024, 1024)],
    ['a GIF', gif(1024, 1024)],
    ['a JPEG with a preview in front', jpeg(1024, 1024)],
    ['a lossy WebP', webp('VP8 ', 1024, 1024)],
    ['a lossless WebP', webp('VP8L', 1024, 1024)],
    ['an extended WebP', webp('VP8X', 1024, 1024)],
  ])('of 1024 × 1024 is four tiles: %s', (_kind, bytes) => {
    expect(imageCost(dataUrl(bytes))).toBe(4 * 170 + 85);
  });

  test.each([
    ['is not enlarged', 100, 100, 1],
    ['is reduced to 2048 on the long side, then to 768 on the short one', 2048, 4096, 6],
    ['is reduced on the short side only', 1000, 768, 4],
    ['is a thin strip', 8000, 10, 4],
  ])('is counted in tiles if the image %s', (_rule, width, height, tiles) => {
    expect(imageCost(dataUrl(png(width, height)))).toBe(tiles * 170 + 85);
  });

  test('is the same for plain base64', () => {
    expect(imageCost(png(512, 512).toString('base64'))).toBe(170 + 85);
  });

  test('is the base alone in low detail', () => {
    expect(imageCost(dataUrl(png(1024, 1024)), model, 'low')).toBe(85);
  });

  test.each([
    ['gpt-4o-mini', 4 * 5667 + 2833],
    ['gpt-5', 4 * 140 + 70],
    ['o1', 4 * 150 + 75],
    ['gpt-4.1-mini', Math.ceil(1024 * 1.62)],
    ['o4-mini', Math.ceil(1024 * 1.72)],
    ['glm-4v', 1047],
  ])('has figures of its own for %s', (name, tokens) => {
    expect(imageCost(dataUrl(png(1024, 1024)), name)).toBe(tokens);
  });

  test.each([
    ['is at a URL', 'https://pictures.example/cat.png'],
    ['is of an unknown type', 'data:image/bmp;base64,Qk0='],
    ['is cut off', dataUrl(png(9, 9).subarray(0, 12))],
    ['has no size', dataUrl(png(0, 0))],
    ['is a JPEG without a size', dataUrl(Buffer.concat([jpeg(1, 1).subarray(0, 40), Buffer.alloc(99)]))],
    ['is empty', ''],
  ])('is three times the base if the image %s', (_reason, url) => {
    expect(imageCost(url)).toBe(3 * 85);
  });
});

describe('the estimate of another prompt', () => {
  test.each([
    ['one text', 'hello world', 2],
    ['several texts', ['hello world', 'hello'], 3],
    ['token ids', [1, 2, 3, 4], 4],
    ['lists of token ids', [[1, 2, 3], [4]], 4],
  ])('counts the tokens of %s', (_kind, input, tokens) => {
    expect(estimate('embeddings', model, { input }).expected).toBe(tokens);
    expect(estimate('completions', model, { prompt: input }).expected).toBe(tokens);
  });

  test('includes the suffix of a completion', () => {
    expect(estimate('completions', model, { prompt: 'hello world', suffix: 'hello' }).expected).toBe(3);
  });

  test.each([
    [{}],
    [{ messages: 'no list' }],
    [{ messages: [null, 7, 'x', [], { content: { text: 1 } }] }],
    [{ messages: [{ role: 5, content: [null, { type: 'image_url' }, { type: 'text', text: 9 }], tool_calls: 'x' }] }],
    [{ messages: [{}], tools: [null, {}, { function: 3 }], functions: {} }],
    [
      {
        messages: [],
        tools: [{ function: { parameters: JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) } }],
      },
    ],
    [{ input: [[[['deep']]], null, true], prompt: { a: 1 } }],
  ])('is made without an error for odd input %#', (body) => {
    for (const mode of ['chat', 'completions', 'embeddings'] as const)
      expect(
        endpoints[mode].demand({ body: body as JsonObject, bytes: 0, model, names: new Set([model]), upload: null })
          .prompt.expected,
      ).toBeGreaterThanOrEqual(0);
  });
});

describe('the reservation for a prompt', () => {
  test("is a tenth more than the count where the encoding is the model's own", () => {
    const { expected, conservative } = estimate('chat', model, user('hello world, '.repeat(40)));
    expect(conservative).toBe(Math.ceil(expected * 1.1));
  });

  test('is twice the count where another vendor counts', () => {
    const { expected, conservative } = estimate('chat', 'claude-sonnet-4-5', user('hello world, '.repeat(40)));
    expect(conservative).toBe(expected * 2);
  });

  test('is never less than a token for six bytes, so that uncounted text is included', () => {
    const body = { ...user('hi'), documents: ['a fact '.repeat(5_000)] };
    expect(estimate('chat', model, body).conservative).toBeGreaterThan(5_000);
  });

  test('is never more than a token for each byte, which no encoding exceeds', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 2_000 }),
        fc.constantFrom('gpt-4o', 'qwen-max'),
        (text, name) => {
          const body = user(text);
          const { conservative, max } = estimate('chat', name, body);
          expect(conservative).toBeLessThanOrEqual(max);
          expect(max).toBeLessThanOrEqual(Math.max(Buffer.byteLength(JSON.stringify(body)), chat(body, name)));
          expect(max).toBeGreaterThanOrEqual(countTokens(name, text));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('covers text that hides expensive parts between the samples', () => {
    // Cheap where a sample may look, a token for each character everywhere else.
    const expensive = '}{[]()~`^'.repeat(2_000);
    const text = `${' '.repeat(9_000)}${expensive}${' '.repeat(9_000)}`;
    expect(estimate('chat', model, user(text)).conservative).toBeGreaterThan(text.length / 6);
  });
});

describe('the reservation for audio or a file', () => {
  const held = (part: JsonObject) => {
    const { conservative, max } = estimate('chat', model, user([part]));
    const without = estimate('chat', model, user([]));
    return { conservative: conservative - without.conservative, max: max - without.max };
  };
  const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');

  test('grows with its bytes', () => {
    const sound = held({ type: 'input_audio', input_audio: { data: base64(640_000), format: 'wav' } });
    expect(sound.conservative).toBeGreaterThanOrEqual(10_000);
    expect(sound.max).toBeGreaterThanOrEqual(80_000);
    const file = held({ type: 'file', file: { file_data: `data:application/pdf;base64,${base64(800_000)}` } });
    expect(file.conservative).toBeGreaterThanOrEqual(100_000);
    expect(file.max).toBeGreaterThanOrEqual(800_000);
  });

  test.each([
    ['a file by its id', { type: 'file', file: { file_id: 'file-1' } }],
    ['a file at a URL', { type: 'file', file: { file_data: 'https://files.example/a.pdf' } }],
    ['a film at a URL', { type: 'video_url', video_url: { url: 'https://films.example/a.mp4' } }],
    ['a part of an unknown type', { type: 'hologram', hologram: { url: 'https://films.example/a' } }],
    ['a file by its id beside a text', { type: 'file', file: { file_id: 'file-1' }, text: '' }],
    ['a file in a list beside a text', { type: 'video', video: ['https://films.example/1.png'], text: '' }],
    ['a file at a URL beside an inline one', { type: 'file', file: { file_data: 'AA', url: 'https://a.example/b' } }],
    ['a file at a URL after a blank', { type: 'file', file: { file_data: ' https://files.example/a.pdf' } }],
    ['a part without a type that has a file', { file: { file_id: 'file-1' } }],
  ])('covers a full context for %s', (_kind, part) => {
    expect(held(part as JsonObject).conservative).toBeGreaterThanOrEqual(131_072);
  });

  const picture = { image_url: { url: 'https://pictures.example/a.png' } };
  test.each([
    ['is assumed to be of the maximum size', { type: 'image_url', ...picture }],
    ['is assumed so whatever text is beside it', { type: 'image_url', text: '', ...picture }],
    ['is assumed so where the part has no type', picture],
  ])('covers a picture at a URL, which %s', (_rule, part) => {
    expect(held(part).conservative).toBeGreaterThanOrEqual(8 * 170 + 85);
  });

  test.each([
    ['gpt-4o-mini', 4 * 5667 + 2833],
    ['qwen-vl-max', 16_384],
  ])('counts a picture as %s does, where a channel maps the model to that', (sentAs, tokens) => {
    const body = user([{ type: 'image_url', image_url: { url: dataUrl(png(1024, 1024)) } }]);
    const asked = estimate('chat', 'gpt-4o', body);
    const mapped = estimate('chat', 'gpt-4o', body, sentAs);
    expect(mapped.expected).toBe(asked.expected);
    expect(mapped.max - asked.max).toBe(tokens - (4 * 170 + 85));
  });

  test('counts a picture also where it is the whole content', () => {
    const part = { type: 'image_url', ...picture };
    expect(estimate('chat', model, user(part)).conservative).toBeGreaterThanOrEqual(8 * 170 + 85);
  });

  test('counts a part of type text as text, whatever other members it has', () => {
    const part = { type: 'text', text: 'hello', ...picture };
    expect(chat(user([part]))).toBe(chat(user('hello')));
  });
});

test('a model that searches by itself may find more than was sent, by whichever name it is known', () => {
  const body = { model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'hi' }] };
  const promptFor = (...names: string[]) =>
    endpoints.chat.demand({ body, bytes: 90, model: names[0] ?? '', names: new Set(names), upload: null }).prompt;
  for (const names of [['openai/gpt-4o:online'], ['found', 'openai/gpt-4o:online']]) {
    const { max, brings } = promptFor(...names);
    expect([(max.input ?? 0) > 1_000_000, brings]).toEqual([true, true]);
  }
  expect(promptFor('openai/gpt-4o').brings).toBe(false);
});

describe('the requested output', () => {
  test.each([
    [{}, null],
    [{ max_tokens: 100 }, 100],
    [{ max_tokens: 100, max_completion_tokens: 300 }, 300],
    [{ max_tokens: 'many' }, null],
    [{ max_tokens: 0 }, null],
    [{ max_tokens: 0, max_completion_tokens: 5 }, null],
  ])('has a token limit for each answer: %j allows %j tokens', (body, tokens) => {
    expect(outputAllowed(body)).toBe(tokens);
  });

  test.each([
    ['chat', {}, 1],
    ['chat', { n: 3 }, 3],
    ['completions', { n: 2, best_of: 5, prompt: 'a' }, 5],
    ['completions', { prompt: ['a', 'b', 'c'], n: 2 }, 6],
    ['completions', { prompt: [1, 2, 3] }, 1],
    ['completions', { prompt: [[1, 2], [3]] }, 2],
    ['completions', { prompt: [1, 'a', 'b'] }, 3],
  ] as const)('has a number of answers in %s: %j requests %j', (mode, body, answers) => {
    expect(
      endpoints[mode].demand({
        body: body as unknown as JsonObject,
        bytes: 0,
        model,
        names: new Set([model]),
        upload: null,
      }).answers,
    ).toBe(answers);
  });
});
