import { describe, expect, test } from 'vitest';
import { messages } from '../../src/relay/dialects/anthropic/endpoints/messages.js';
import { isObject, type JsonObject, objectsIn } from '../../src/relay/json/json.js';
import { asCallerTakes } from '../../src/relay/protocols/caller-calls.js';
import { goldens, plainChannel, play } from './providers/golden.js';
import { payloadsIn, receivedBy } from './providers/received-answer.js';

/* Callers that take one call of a function to an answer get one, whether or not the upstream's wire has a word for that. */

const several = goldens.filter(
  ({ stream, expected, caller }) => stream && (expected.toolCalls ?? 0) > 1 && caller.dialect.wire === 'openai',
);

const answered = (golden: (typeof several)[number], members: JsonObject) => {
  const caller = { ...golden.caller, body: { ...golden.caller.body, ...members } };
  return play({ ...golden, caller }, [golden.upstream]);
};

describe('a caller that takes one call at a time', () => {
  test('is found upstreams of every kind that answer with several', () => {
    const types = new Set(several.map(({ provider }) => provider.type));
    expect([1, 4, 14, 23, 24, 33, 34, 42].filter((type) => !types.has(type))).toEqual([]);
  });

  test.each(several.map((golden) => ({ _name: golden.name, golden })))(
    'gets the first of those of $_name',
    ({ golden }) => {
      const all = answered(golden, { parallel_tool_calls: true });
      const one = answered(golden, { parallel_tool_calls: false });
      const heard = receivedBy('openai', payloadsIn(all.answer), true);
      expect(heard.calls.length).toBeGreaterThan(1);
      expect(receivedBy('openai', payloadsIn(one.answer), true)).toEqual({ ...heard, calls: heard.calls.slice(0, 1) });
      // What upstream has done is charged.
      expect(one.generated).toEqual(all.generated);
      expect(one.usage).toEqual(all.usage);
    },
  );

  const call = (id: string): JsonObject => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
  const whole = () => ({
    choices: [
      { index: 0, message: { tool_calls: [call('a'), call('b')] } },
      { index: 1, message: { tool_calls: [null, call('c'), 7, call('d')] } },
      { index: 2, message: { content: 'none', tool_calls: null } },
      null,
    ],
  });
  const idsOf = (body: JsonObject): unknown[] =>
    objectsIn(body.choices).map(({ message }) =>
      isObject(message) ? objectsIn(message.tool_calls).map(({ id }) => id) : null,
    );
  const [golden] = several;
  if (golden === undefined) throw new Error('No recorded answer has several calls');
  const { caller } = golden;

  test.each<readonly [_name: string, asked: Partial<typeof caller>, override: JsonObject | null]>([
    ['in OpenAI’s words', { body: { parallel_tool_calls: false } }, null],
    [
      'in Anthropic’s words',
      { dialect: messages.dialect, body: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } } },
      null,
    ],
    ['by its operator’s parameters', { body: {} }, { parallel_tool_calls: false }],
  ])('says so %s, and gets one of each choice of a whole answer', (_, asked, paramOverride) => {
    const body = whole();
    expect(asCallerTakes(body, { ...caller, ...asked }, { ...plainChannel, paramOverride })).toBe(true);
    expect(idsOf(body)).toEqual([['a'], ['c'], []]);
  });

  test.each<readonly [_name: string, body: JsonObject]>([
    ['says nothing of it', {}],
    ['allows several', { parallel_tool_calls: true }],
    ['says no more than null', { parallel_tool_calls: null, tool_choice: null }],
  ])('is not taken to be one that %s', (_, body) => {
    const answer = whole();
    expect(asCallerTakes(answer, { ...caller, body }, plainChannel)).toBe(false);
    expect(answer).toEqual(whole());
  });
});
