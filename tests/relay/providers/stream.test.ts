import { describe, expect, test } from 'vitest';
import { noUsage, type Usage } from '../../../src/domain/call/usage.js';
import type { AnswerStream } from '../../../src/relay/contracts/protocol.js';
import { maxLineLength } from '../../../src/relay/upstream/sse.js';
import { callerOf, plainChannel, providerOfType } from './golden.js';

const info = { callId: 'call-7', model: 'gpt-4o', createdAt: 1_760_000_000 };

function open(options: { type?: number; wantsUsage?: boolean; thinkingToContent?: boolean } = {}): AnswerStream {
  const { type = 1, wantsUsage = false, thinkingToContent = false } = options;
  const provider = providerOfType(type);
  const body = { stream: true, ...(wantsUsage && { stream_options: { include_usage: true } }) };
  const channel = { ...plainChannel, thinkingToContent };
  return provider.protocol.stream({ provider, channel, caller: callerOf('chat', body), info });
}

const data = (payload: unknown): Buffer => Buffer.from(`data: ${JSON.stringify(payload)}\n\n`);
const chunk = (delta: object, index = 0) => ({ id: 'x', choices: [{ index, delta, finish_reason: null }] });
const done = Buffer.from('data: [DONE]\n\n');

describe('a stream that is passed through', () => {
  test('is forwarded at once: complete frames leave with the push that completes them', () => {
    const stream = open();
    const frame = data(chunk({ content: 'a' }));
    expect(stream.push(frame.subarray(0, -1)).bytes).toBeNull();
    expect(stream.push(frame.subarray(-1)).bytes).toEqual(frame);
  });

  test('forwards an unchanged chunk without a copy', () => {
    const frames = Buffer.concat([data(chunk({ content: 'a' })), data(chunk({ content: 'b' }))]);
    const { bytes } = open().push(frames);
    expect(bytes?.buffer).toBe(frames.buffer);
    expect(bytes?.length).toBe(frames.length);
  });

  test('drops the end mark and reads nothing after it', () => {
    const stream = open();
    const step = stream.push(Buffer.concat([done, data(chunk({ content: 'late' }))]));
    expect(step).toEqual({ bytes: null, error: null, finished: true });
    expect(stream.generated.said.toString()).toBe('');
  });

  describe('that never ends', () => {
    const endless = 'x'.repeat(1_000_000);

    test('counts a bounded number of tool calls', () => {
      const stream = open();
      for (let call = 0; call < 3000; call++)
        stream.push(
          data(chunk({ tool_calls: [{ index: call, id: `c${call}`, function: { name: 'f', arguments: '' } }] })),
        );
      expect(stream.generated.toolCalls).toBe(1024);
    });

    test('closes a bounded number of thinking blocks', () => {
      const stream = open({ thinkingToContent: true });
      for (let index = 0; index < 3000; index++) stream.push(data(chunk({ reasoning_content: 'a' }, index)));
      stream.push(
        data({ ...chunk({ reasoning_content: 'a' }), choices: [{ index: endless, delta: { reasoning: 'b' } }] }),
      );
      const [frame = ''] = stream.closing(noUsage).toString().split('\n\n');
      expect((JSON.parse(frame.slice('data: '.length)) as { choices: unknown[] }).choices).toHaveLength(128);
    });

    test('remembers nothing of a chunk beyond a length', () => {
      const stream = open({ wantsUsage: true });
      const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, [endless]: 1 };
      const choices = [{ index: 0, delta: { content: 'a' }, finish_reason: endless }];
      stream.push(data({ id: endless, model: endless, system_fingerprint: endless, choices }));
      stream.push(data({ id: endless, choices: [], usage }));
      expect(stream.usage).toEqual({ input: 3, output: 2 });
      expect(stream.closing(stream.usage ?? noUsage).length).toBeLessThan(1000);
      expect(stream.generated.finishReason).toBe('unknown');
    });

    test('of brackets is refused as not an answer, and is not parsed', () => {
      const stream = open();
      const deep = `{"id":"x","choices":${'['.repeat(5000)}${']'.repeat(5000)}}`;
      expect(stream.push(Buffer.from(`data: ${deep}\n\n`))).toMatchObject({ bytes: null, error: null });
    });
  });

  test('that is empty can still be closed with usage', () => {
    const usage: Usage = { input: 5, cachedInput: 4, output: 1, reasoning: 1 };
    const [frame = '', end] = open({ wantsUsage: true }).closing(usage).toString().split('\n\n');
    expect(JSON.parse(frame.slice('data: '.length))).toEqual({
      id: 'call-7',
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model: 'gpt-4o',
      system_fingerprint: null,
      choices: [],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 2,
        total_tokens: 11,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    });
    expect(end).toBe('data: [DONE]');
  });

  const counts = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const empty = { index: 0, delta: {} };
  test.each([
    ['an empty choice', { ...counts }, [empty]],
    ['an empty choice that contains the usage too', { ...counts }, [{ ...empty, usage: counts, finish_reason: null }]],
    [
      'a choice with an empty text',
      { ...counts },
      [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null }],
    ],
  ])('whose usage arrives with %s has no chunk for it, and one usage if requested', (_kind, usage, choices) => {
    for (const wantsUsage of [false, true]) {
      const stream = open({ wantsUsage });
      stream.push(data({ id: 'x', choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] }));
      expect(stream.push(data({ id: 'x', choices, usage })).bytes).toBeNull();
      const frames = stream
        .closing(stream.usage ?? noUsage)
        .toString()
        .split('\n\n')
        .slice(0, -2);
      expect(frames.map((frame) => JSON.parse(frame.slice('data: '.length)))).toMatchObject(
        wantsUsage ? [{ choices: [], usage: counts }] : [],
      );
    }
  });

  test('whose usage arrives with text or a finish reason passes these on, without any usage in them', () => {
    const stream = open();
    const last = { index: 0, delta: {}, finish_reason: 'stop', usage: counts };
    const step = stream.push(data({ id: 'x', choices: [last], usage: { ...counts, cost: 1 } }));
    expect(step.bytes?.toString()).toContain('"finish_reason":"stop"');
    expect(step.bytes?.toString()).not.toContain('usage');
  });

  test('keeps the last usage, and ignores an empty one', () => {
    const stream = open();
    const reported = (prompt: number, completion: number) => ({
      id: 'x',
      choices: [],
      usage: { prompt_tokens: prompt, completion_tokens: completion },
    });
    expect(stream.push(data(reported(0, 0)))).toMatchObject({ bytes: null });
    expect(stream.usage).toBeNull();
    stream.push(data(reported(5, 1)));
    stream.push(data(reported(5, 3)));
    stream.push(data(reported(0, 0)));
    expect(stream.usage).toEqual({ input: 5, output: 3 });
  });

  test.each([
    ['a negative number', { prompt_tokens: -5, completion_tokens: 3 }, { output: 3 }],
    ['texts', { prompt_tokens: '5', completion_tokens: '3' }, null],
    ['no prompt tokens', { completion_tokens: 3 }, { output: 3 }],
    ['no completion tokens', { prompt_tokens: 5 }, { input: 5 }],
    ['an infinite number', { prompt_tokens: Number.MAX_VALUE, completion_tokens: 3 }, { output: 3 }],
  ])('takes the valid numbers of a usage with %s', (_kind, usage, read) => {
    const stream = open();
    stream.push(data({ id: 'x', choices: [], usage }));
    expect(stream.usage).toEqual(read);
  });

  test('never counts more cached or reasoning tokens than exist', () => {
    const stream = open();
    const usage = {
      prompt_tokens: 5,
      completion_tokens: 3,
      total_tokens: 8,
      prompt_tokens_details: { cached_tokens: 50, image_tokens: 50 },
      completion_tokens_details: { reasoning_tokens: 50 },
    };
    stream.push(data({ id: 'x', choices: [], usage }));
    expect(stream.usage).toEqual({ cachedInput: 5, reasoning: 3 });
  });

  test.each([
    ['an error that is a text', { error: 'Rate limit reached' }, 429],
    ['an object that declares itself an error', { object: 'error', message: 'x', code: 400 }, 400],
    ['an error beside choices', { choices: [], error: { code: 502, message: 'x' } }, 502],
  ])('fails at %s', (_shape, payload, status) => {
    const stream = open();
    expect(stream.push(data(payload)).error).toMatchObject({ status });
    expect(stream.push(data(chunk({ content: 'late' }))).bytes).toBeNull();
  });

  test.each([[{ error: null }], [{ error: {} }], [{ error: '' }]])('does not fail at %j', (member) => {
    expect(open().push(data({ ...chunk({ content: 'a' }), ...member })).error).toBeNull();
  });

  test('fails at an endless line', () => {
    const stream = open();
    const part = Buffer.alloc(maxLineLength / 2, 'x');
    stream.push(part);
    stream.push(part);
    expect(stream.push(part).error).toMatchObject({ status: 502, code: 'bad_response_body' });
  });

  test('with reasoning under both names is passed on unchanged', () => {
    const both = data(chunk({ reasoning: 'short', reasoning_content: 'long' }));
    expect(open({ type: 20 }).push(both).bytes).toEqual(both);
  });

  test.each([null, undefined, {}])('has a list of choices in every chunk, where upstream sends %j', (choices) => {
    const { bytes } = open().push(data({ id: 'x', object: 'chat.completion.chunk', choices }));
    expect(JSON.parse(String(bytes).slice('data: '.length))).toMatchObject({ id: 'x', choices: [] });
  });

  test('has arguments as a text, where upstream sends the object itself', () => {
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: { city: 'Oslo' } } };
    expect(String(open().push(data(chunk({ tool_calls: [call] }))).bytes)).toContain(
      '"arguments":"{\\"city\\":\\"Oslo\\"}"',
    );
  });

  test('accepts only known finish reasons', () => {
    const stream = open({ type: 43 });
    const finish = data({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'constructor' }] });
    expect(stream.push(finish).bytes).toEqual(finish);
  });
});

describe('thinking moved into the text', () => {
  const contents = (bytes: Buffer | null): unknown[] =>
    String(bytes)
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .flatMap((frame) => JSON.parse(frame.slice('data: '.length)).choices)
      .map(({ index, delta }) => [index, delta.content]);

  test('is kept separate for every choice', () => {
    const stream = open({ thinkingToContent: true });
    const frames = [
      chunk({ reasoning_content: 'a' }, 0),
      chunk({ reasoning_content: 'b' }, 1),
      chunk({ content: 'A' }, 0),
      chunk({ content: 'B' }, 1),
    ];
    expect(contents(stream.push(Buffer.concat(frames.map(data))).bytes)).toEqual([
      [0, '<think>\na'],
      [1, '<think>\nb'],
      [0, '\n</think>\n'],
      [0, 'A'],
      [1, '\n</think>\n'],
      [1, 'B'],
    ]);
  });

  test('is closed before a tool call, and in the same chunk as text', () => {
    const stream = open({ thinkingToContent: true });
    const call = chunk({ tool_calls: [{ index: 0, function: { name: 'f' } }] });
    const frames = [chunk({ reasoning_content: 'a' }), call, chunk({ reasoning_content: 'b', content: 'B' })];
    expect(contents(stream.push(Buffer.concat(frames.map(data))).bytes)).toEqual([
      [0, '<think>\na'],
      [0, '\n</think>\n'],
      [0, undefined],
      [0, '<think>\nb\n</think>\nB'],
    ]);
  });

  test('is closed at the end when nothing follows it, before the finish reason that the upstream omitted', () => {
    const stream = open({ thinkingToContent: true });
    stream.push(data(chunk({ reasoning_content: 'a' })));
    expect(contents(stream.closing(noUsage))).toEqual([
      [0, '\n</think>\n'],
      [0, undefined],
    ]);
    expect(contents(stream.closing(noUsage))).toEqual([]);
  });
});
