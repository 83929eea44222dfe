import fc from 'fast-check';
import { expect, test } from 'vitest';
import { responsesInChat } from '../../../../src/relay/dialects/openai/responses-in-chat/to-neutral.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../../../src/relay/json/json.js';
import { wordsOf } from '../../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../../providers/golden.js';

/* A chat in words of the Responses API, read as a chat again: each by its own code, so that one holds the other. */

const words = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }).filter((text) => text.trim() !== '');
const name = fc.stringMatching(/^[a-z]{1,8}$/);
const picture = fc.constant({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'high' } });
const parts = fc.array(
  fc.oneof(
    words.map((text) => ({ type: 'text', text })),
    picture,
  ),
  { minLength: 1, maxLength: 3 },
);

interface Turn {
  readonly asked: JsonValue;
  readonly answered: string | null;
  readonly calls: readonly { readonly name: string; readonly args: string; readonly result: string }[];
}

const turns: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({
    asked: fc.oneof(words, parts) as fc.Arbitrary<JsonValue>,
    answered: fc.option(words),
    calls: fc.array(fc.record({ name, args: fc.json(), result: words }), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 4 },
);

const asMessages = (all: readonly Turn[]): JsonObject[] =>
  all.flatMap(({ asked, answered, calls }, turn): JsonObject[] => {
    const id = (at: number): string => `call_${turn}_${at}`;
    const called = calls.map(({ name, args }, at) => ({
      ...{ id: id(at), type: 'function', function: { name, arguments: args } },
    }));
    if (answered === null && called.length === 0) return [{ role: 'user', content: asked }];
    return [
      { role: 'user', content: asked },
      { role: 'assistant', content: answered, ...(called.length > 0 && { tool_calls: called }) },
      ...calls.map(({ result }, at) => ({ role: 'tool', tool_call_id: id(at), content: result })),
    ];
  });

/** What is meant, however it is written. */
function meaningOf({ messages, tools, tool_choice: choice, response_format: format, ...rest }: JsonObject) {
  const partsIn = (content: JsonValue | undefined): JsonValue[] =>
    (typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content)).map(
      ({ type, text, image_url: image }: JsonObject) =>
        type === 'text'
          ? `text ${text}`
          : `picture ${JSON.stringify(isObject(image) ? [image.url, image.detail] : image)}`,
    );
  return {
    messages: objectsIn(messages).map(({ role, content, tool_calls: calls, tool_call_id: id }) => ({
      role: role === 'developer' ? 'system' : role,
      content: partsIn(content ?? []),
      calls: objectsIn(calls).map((call) => [call.id, call.function]),
      ...(textIn(id) !== null && { id }),
    })),
    tools: objectsIn(tools).map(({ function: declared }) => {
      const { name, parameters, strict = false } = isObject(declared) ? declared : {};
      return { name, parameters, strict };
    }),
    choice,
    format: isObject(format) ? format.json_schema : undefined,
    limit: rest.max_completion_tokens ?? rest.max_tokens,
    rest: [rest.temperature, rest.parallel_tool_calls, rest.reasoning_effort, rest.verbosity],
  };
}

test('a chat that goes through the Responses API and back has the same meaning', () => {
  fc.assert(
    fc.property(
      turns,
      fc.option(words),
      fc.uniqueArray(name, { maxLength: 3 }),
      fc.record(
        {
          max_completion_tokens: fc.integer({ min: 16, max: 9_000 }),
          reasoning_effort: fc.constantFrom('low', 'high'),
          verbosity: fc.constantFrom('low', 'high'),
        },
        { requiredKeys: [] },
      ),
      fc.boolean(),
      (said, system, offered, more, strict) => {
        const schema = { type: 'object', properties: { a: { type: 'string' } } };
        const tools = offered.map((name) => ({ type: 'function', function: { name, parameters: schema, strict } }));
        const [first] = offered;
        const body: JsonObject = {
          model: 'gpt-5',
          messages: [...(system === null ? [] : [{ role: 'system', content: system }]), ...asMessages(said)],
          ...(first !== undefined && {
            ...{ tools, parallel_tool_calls: strict },
            tool_choice: { type: 'function', function: { name: first } },
          }),
          ...(strict && { response_format: { type: 'json_schema', json_schema: { name: 'a', schema, strict } } }),
          ...more,
        };
        const { content } = providerOfType(1).protocol.request({
          provider: providerOfType(1),
          channel: { ...plainChannel, responsesOnly: true },
          caller: callerOf('chat', body),
          model: 'gpt-5',
          options: usualOptions,
        });
        const back = responsesInChat(JSON.parse(wordsOf(content)) as JsonObject).body;
        expect(meaningOf({ ...back })).toEqual(meaningOf(body));
      },
    ),
    { numRuns: 150 },
  );
});
