import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noUsage } from '../../../src/domain/call/usage.js';
import type { AnswerStream } from '../../../src/relay/contracts/protocol.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { chunkPattern } from '../../../src/relay/protocols/chunk-pattern.js';
import type { FramePattern } from '../../../src/relay/protocols/frame-pattern.js';
import { callerOf, plainChannel, providerOfType } from '../providers/golden.js';

const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  model: 'gpt-4o',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
  ...more,
});

const framesOf = (...frames: (JsonObject | string)[]): Buffer =>
  Buffer.from(frames.map((frame) => `data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n\n`).join(''));

const patternOf = (said: JsonObject, text = JSON.stringify(said)): FramePattern | null => {
  const bytes = framesOf(text);
  return chunkPattern(said, bytes, 6, bytes.length - 2);
};

/** Of frames that are all like the first, to the end of the last. */
const wordsIn = (pattern: FramePattern | null, ...frames: (JsonObject | string)[]): string | null => {
  const bytes = framesOf(...frames);
  const like = pattern?.framesIn(bytes, 0) ?? null;
  return like?.end === bytes.length ? like.words : null;
};

describe('the text of a chunk with the same shape as the previous one', () => {
  const { stringify } = JSON;

  test.each([
    ['content', chunk({ content: 'Hi' }), chunk({ content: ' there, Ælfred' }), ' there, Ælfred'],
    ['none', chunk({ content: 'Hi' }), chunk({ content: '' }), ''],
    ['in the first ones', chunk({ role: 'assistant', content: '' }), chunk({ role: 'assistant', content: 'a' }), 'a'],
    [
      'thoughts',
      chunk({ content: null, reasoning_content: 'a' }),
      chunk({ content: null, reasoning_content: 'b' }),
      'b',
    ],
    ['with padding', chunk({ content: 'a' }, { obfuscation: 'x1' }), chunk({ content: 'b' }, { obfuscation: '' }), 'b'],
  ])('is found: %s', (_, first, next, words) => {
    expect(wordsIn(patternOf(first), next)).toBe(words);
  });

  test('is found in a run of equal shapes, up to the first different one', () => {
    const pattern = patternOf(chunk({ content: 'Hi' }));
    const long = 'Ælfred '.repeat(1_000);
    const alike = ['', ' there', '漢字', long, 'x'.repeat(4_000), 'y'.repeat(200)].map((content) => chunk({ content }));
    const words = alike.map((said) => JSON.parse(JSON.stringify(said)).choices[0].delta.content).join('');
    expect(wordsIn(pattern, ...alike)).toBe(words);
    const other = chunk({ content: 'a' }, { id: 'chatcmpl-2' });
    const bytes = framesOf(...alike, other, ...alike);
    expect(pattern?.framesIn(bytes, 0)).toEqual({ end: framesOf(...alike).length, words });
    const cut = framesOf(...alike).subarray(0, -1);
    expect(pattern?.framesIn(cut, 0)?.end).toBe(framesOf(...alike.slice(0, -1)).length);
    expect(pattern?.framesIn(bytes, framesOf(...alike).length)).toBeNull();
  });

  test.each([
    ['another id', chunk({ content: 'a' }, { id: 'chatcmpl-2' })],
    [
      'another choice',
      { ...chunk({}), choices: [{ index: 1, delta: { content: 'a' }, logprobs: null, finish_reason: null }] },
    ],
    [
      'a finish reason',
      { ...chunk({}), choices: [{ index: 0, delta: { content: 'a' }, logprobs: null, finish_reason: 'stop' }] },
    ],
    ['usage after it', chunk({ content: 'a' }, { usage: { prompt_tokens: 1 } })],
    ['text with a quote', chunk({ content: 'a "b"' })],
    ['text with a backslash', chunk({ content: 'a\\b' })],
    ['text with an end of line', chunk({ content: 'a\nb' })],
    ['a character that JSON forbids', stringify(chunk({ content: 'ab' })).replace('ab', 'a\tb')],
    ['less than a chunk', stringify(chunk({ content: 'a' })).slice(0, -1)],
    ['more than a chunk', `${stringify(chunk({ content: 'a' }))} `],
  ])('is not read from %s', (_, next) => {
    const pattern = patternOf(chunk({ content: 'Hi' }));
    expect(pattern).not.toBeNull();
    expect(wordsIn(pattern, next)).toBeNull();
  });

  test.each([
    ['calls a tool', chunk({ content: 'a', tool_calls: [] })],
    ['speaks', chunk({ content: 'a', audio: { transcript: 'a' } })],
    ['refuses', chunk({ refusal: 'a' })],
    ['has text and thinking', chunk({ content: 'a', reasoning_content: 'b' })],
    ['has thinking in a member that is copied', chunk({ reasoning: '' })],
    ['has no text', chunk({ content: null })],
    ['has two choices', { choices: [{ delta: { content: 'a' } }, { delta: { content: 'b' } }] }],
    ['has usage', chunk({ content: 'a' }, { usage: { prompt_tokens: 1 } })],
    ['names content elsewhere too', chunk({ content: 'a' }, { choice: { content: 'b' } })],
    ['has its padding before its text', { obfuscation: 'x', ...chunk({ content: 'a' }) }],
    ['is long', chunk({ content: 'a' }, { more: 'x'.repeat(5000) })],
  ])('is not sought where a chunk %s', (_, said) => {
    expect(patternOf(said)).toBeNull();
  });

  test('is not sought where a member may have another spelling', () => {
    const text = '{"choices":[{"delta":{"content":"a","c\\u006fntent":"a"}}]}';
    expect(patternOf(JSON.parse(text), text)).toBeNull();
  });
});

describe('a stream of chunks', () => {
  const info = { callId: 'call-7', model: 'gpt-4o', createdAt: 1_760_000_000 };
  const open = (): AnswerStream =>
    providerOfType(1).protocol.stream({
      provider: providerOfType(1),
      channel: plainChannel,
      caller: callerOf('chat', { stream: true, stream_options: { include_usage: true } }),
      info,
    });

  const words = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.constantFrom('', 'a', ' the', '"', '\\', '\n', '","content":"', '漢字', '{"content":"b"}'),
  );
  const member = fc.constantFrom('content', 'reasoning_content', 'reasoning', 'refusal');
  const noise = fc.string({ maxLength: 6 });
  const frame = fc.record({
    member,
    words,
    index: fc.nat(1),
    id: fc.constantFrom('a', 'b'),
    role: fc.boolean(),
    noise: fc.option(noise),
    reason: fc.option(fc.constant('stop')),
    usage: fc.option(fc.record({ prompt_tokens: fc.nat(99), completion_tokens: fc.nat(99) })),
  });
  interface Frame {
    readonly member: string;
    readonly words: string;
    readonly index: number;
    readonly id: string;
    readonly role: boolean;
    readonly noise: string | null;
    readonly reason: string | null;
    readonly usage: JsonObject | null;
  }

  /** Most are like the first, as in real life. */
  const frames = fc
    .tuple(frame, fc.array(fc.tuple(words, noise, fc.option(frame, { freq: 6 })), { maxLength: 20, size: 'max' }))
    .map(([first, next]): Frame[] => {
      const usual = { ...first, reason: null, usage: null };
      return [
        first,
        ...next.map(([said, hidden, other]) => {
          const noise = usual.noise === null ? null : hidden;
          return other ?? { ...usual, words: said, noise };
        }),
      ];
    });

  const reported = ({ member, words, index, id, role, noise, reason, usage }: Frame): string =>
    JSON.stringify({
      id,
      choices: [{ index, delta: { ...(role && { role: 'assistant' }), [member]: words }, finish_reason: reason }],
      ...(usage && { usage }),
      ...(noise !== null && { obfuscation: noise }),
    });

  const read = (stream: AnswerStream, pieces: readonly Buffer[]) => {
    const sent = [...pieces.map((piece) => stream.push(piece)), stream.end()].map(
      ({ bytes }) => bytes?.toString() ?? '',
    );
    const { generated, usage } = stream;
    const { said, toolCalls, finishReason } = generated;
    const closing = stream.closing(usage ?? noUsage).toString();
    return { sent: sent.join(''), said: said.toString(), toolCalls, finishReason, usage, closing };
  };

  test('has the same content whether chunks are parsed or only their text is read, and is forwarded unchanged', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.nat(), { maxLength: 8 }), (list, cuts) => {
        const usual = list.map((frame) => `data: ${reported(frame)}\n\n`).join('');
        // In this spelling every chunk is read.
        const unusual = list.map((frame) => `data:${reported(frame)}\n\n`).join('');
        const bytes = Buffer.from(usual);
        const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((to, index) => bytes.subarray(at[index], to));
        expect(read(open(), pieces)).toEqual(read(open(), [Buffer.from(unusual)]));
      }),
      { numRuns: 1000 },
    );
  });
});
