import { describe, expect, test } from 'vitest';
import { maxChoices } from '../../../src/relay/contracts/protocol.js';
import { isObject, type JsonObject, objectsIn } from '../../../src/relay/json/json.js';
import { AnswerAccumulator } from '../../../src/relay/protocols/answer-accumulator.js';
import { byteByByte, type Golden, goldens } from '../providers/golden.js';

const info = { callId: 'call-1', model: 'm', createdAt: 1 };

const gathered = (...chunks: readonly JsonObject[]): JsonObject => {
  const accumulator = new AnswerAccumulator(info);
  for (const chunk of chunks) accumulator.write(chunk);
  return accumulator.answer().body;
};
const delta = (message: JsonObject, rest: JsonObject = {}): JsonObject => ({
  id: 'x',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: message, finish_reason: null, ...rest }],
});

describe('a stream collected into one answer', () => {
  const streams = goldens.filter(({ stream, caller, expected }) => stream && caller.mode === 'chat' && !expected.error);

  test.each(streams.map((golden) => [golden.name, golden] as const))(
    'of %s has the same content and usage, however it is cut',
    (_name, { provider, channel, caller, info, upstream, expected }: Golden) => {
      for (const pieces of [[upstream], byteByByte(upstream)]) {
        const accumulator = new AnswerAccumulator(info);
        const stream = provider.protocol.stream({ provider, channel, caller: accumulator.asCaller(caller), info });
        for (const piece of pieces) stream.push(piece);
        stream.end();
        const { body, usage } = accumulator.answer();
        const said = objectsIn(body.choices).map(({ message }) => {
          const { reasoning_content: thought, content, tool_calls: calls } = isObject(message) ? message : {};
          const called = objectsIn(calls).map(({ function: one }) => isObject(one) && `${one.name}${one.arguments}`);
          return [thought ?? '', content ?? '', ...called].join('');
        });
        // Pictures stand in the content, and are no words.
        const words = said.join('').replaceAll(/!\[image\]\(data:[^)]*\)/g, '');
        expect(words).toHaveLength(expected.text?.length ?? 0);
        expect(usage).toEqual(expected.usage);
        expect(objectsIn(body.choices).at(-1)?.finish_reason ?? null).toBe(expected.finishReason);
      }
    },
  );

  test('has its text, its thinking and each tool call in one piece', () => {
    const call = (index: number, words: JsonObject, rest: JsonObject = {}) =>
      delta({ tool_calls: [{ index, ...rest, function: words }] });
    const body = gathered(
      delta({ role: 'assistant', content: '', reasoning_content: 'so ' }),
      delta({ reasoning_content: 'so' }),
      call(0, { name: 'one', arguments: '{"a"' }, { id: 'call_1', type: 'function' }),
      call(1, { name: 'two', arguments: '' }, { id: 'call_2', type: 'function' }),
      call(0, { arguments: ':1}' }),
      delta({}, { finish_reason: 'tool_calls' }),
    );
    expect(body).toEqual({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            reasoning_content: 'so so',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'one', arguments: '{"a":1}' } },
              { id: 'call_2', type: 'function', function: { name: 'two', arguments: '' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    });
  });

  test('treats member names as plain data, whatever they are', () => {
    const strange = JSON.parse('{"__proto__":"a","constructor":"b","content":"c"}');
    const [choice] = objectsIn(gathered(delta(strange), delta(strange)).choices);
    expect(Object.entries(isObject(choice?.message) ? choice.message : {})).toEqual([
      ['role', 'assistant'],
      ['content', 'cc'],
      ['__proto__', 'aa'],
      ['constructor', 'bb'],
    ]);
  });

  test('is limited in choices and tool calls like any answer', () => {
    const many = Array.from({ length: 5000 }, (_, index) => index);
    const choices = many.map((index) => ({ index, delta: { content: 'x' } }));
    expect(objectsIn(gathered({ choices }).choices)).toHaveLength(maxChoices);
    const calls = many.map((index) => ({ index, function: { name: 'f' } }));
    const [choice] = objectsIn(gathered(delta({ tool_calls: calls })).choices);
    expect(objectsIn(isObject(choice?.message) ? choice.message.tool_calls : [])).toHaveLength(1024);
  });
});
