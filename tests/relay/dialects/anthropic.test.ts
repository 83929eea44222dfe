import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NotConvertible } from '../../../src/relay/contracts/protocol.js';
import { anthropicCaller } from '../../../src/relay/dialects/anthropic/dialect.js';
import { toNeutral } from '../../../src/relay/dialects/anthropic/to-neutral.js';
import { invalidMessages } from '../../../src/relay/dialects/anthropic/validate.js';
import { isObject, type JsonObject, objectsIn } from '../../../src/relay/json/json.js';
import { conversationOf } from '../../../src/relay/protocols/anthropic/messages.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/* Conversations and answers into Anthropic's words and back. */

test('the attribution block of Claude Code is left out for upstreams of another wire, whatever changes in it', () => {
  const asked = (version: string, system: JsonObject[]) =>
    toNeutral({
      model: 'm',
      max_tokens: 9,
      system: [
        { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1.180.${version}; cch=${version};` },
        ...system,
      ],
      messages: [{ role: 'user', content: 'hi' }],
    }).body;
  const instructed = [{ type: 'text', text: 'Be brief.' }];
  expect(asked('a1', instructed)).toEqual(asked('b2', instructed));
  expect(objectsIn(asked('a1', instructed).messages)[0]).toMatchObject({ role: 'system', content: 'Be brief.' });
  expect(objectsIn(asked('a1', []).messages).map(({ role }) => role)).toEqual(['user']);
});

const words = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }).filter((text) => text.trim() !== '');
const round = fc.record({
  asked: words,
  said: fc.option(words, { nil: null }),
  thought: fc.option(words, { nil: null }),
  calls: fc.array(
    fc.record({
      name: fc.stringMatching(/^[a-z]{1,8}$/),
      input: fc.dictionary(words, fc.jsonValue()),
      result: words,
      failed: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
});

/** One round as neutral messages: a question, an answer, and the results of what it called. */
const messagesOf = (rounds: readonly (typeof round extends fc.Arbitrary<infer One> ? One : never)[]): JsonObject[] =>
  rounds.flatMap(({ asked, said, thought, calls }, at): JsonObject[] => {
    const ids = calls.map((_, index) => `call_${at}_${index}`);
    const details = thought === null ? [] : [{ type: 'reasoning.text', text: thought, signature: 'EqQB' }];
    const toolCalls = calls.map(({ name, input }, index) => ({
      id: ids[index] ?? '',
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }));
    return [
      { role: 'user', content: asked },
      {
        role: 'assistant',
        content: said ?? (calls.length > 0 ? null : 'Well.'),
        ...(thought !== null && { reasoning_content: thought, reasoning_details: details }),
        ...(calls.length > 0 && { tool_calls: toolCalls }),
      },
      ...calls.map(({ result, failed }, index) => ({
        role: 'tool',
        tool_call_id: ids[index] ?? '',
        content: result,
        ...(failed && { is_error: true }),
      })),
    ];
  });

test('a conversation converted to Messages and back keeps its meaning', () => {
  fc.assert(
    fc.property(words, fc.array(round, { minLength: 1, maxLength: 5 }), (instructions, rounds) => {
      const messages = [{ role: 'system', content: instructions }, ...messagesOf(rounds)];
      const there = JSON.parse(JSON.stringify({ model: 'm', ...conversationOf(messages) }));
      expect(toNeutral(there).body.messages).toEqual(JSON.parse(JSON.stringify(messages)));
    }),
    { numRuns: 300 },
  );
});

describe('tool calls that the upstream streams in pieces', () => {
  const info = { callId: 'call-1', model: 'm', createdAt: 1 };
  const call = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), input: fc.dictionary(words, fc.jsonValue()) });

  test('reach the caller whole and in order, however the pieces are cut', () => {
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 200 }),
        (calls, order) => {
          const writer = anthropicCaller.writer(callerOf('chat', { model: 'm' }), plainChannel, info);
          const left = calls.map(({ input }) => JSON.stringify(input).match(/[\s\S]{1,5}/g) ?? []);
          const delta = (tool: JsonObject): void =>
            writer.write({ id: 'x', choices: [{ index: 0, delta: { tool_calls: [tool] }, finish_reason: null }] }, 0);
          for (const [index, { name }] of calls.entries())
            delta({ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } });
          const piece = (index: number): void => {
            const next = left[index]?.shift();
            if (next !== undefined) delta({ index, function: { arguments: next } });
          };
          for (const chosen of order) piece(chosen % calls.length);
          for (const [index, pieces] of left.entries()) for (let more = pieces.length; more > 0; more--) piece(index);
          const answer = `${writer.take() ?? ''}${writer.closing({ output: 1 })}`;

          const lines = answer.split('\n').filter((line) => line.startsWith('data: '));
          const events = lines.map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject);
          let open: unknown = null;
          const written: { name: unknown; text: string }[] = [];
          for (const { type, index, content_block: block, delta: said } of events) {
            if (type === 'content_block_start' && isObject(block)) {
              expect(open).toBeNull();
              open = index;
              written.push({ name: block.name, text: '' });
            }
            if (type === 'content_block_delta' && isObject(said)) {
              expect(index).toBe(open);
              const last = written.at(-1);
              if (last !== undefined) last.text += said.partial_json;
            }
            if (type === 'content_block_stop') open = null;
          }
          expect(written.map(({ name, text }) => ({ name, input: JSON.parse(text) }))).toEqual(
            JSON.parse(JSON.stringify(calls)),
          );
          expect(objectsIn(events).at(-1)?.type).toBe('message_stop');
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('a request with max_tokens 0, which only fills the cache,', () => {
  const body = { model: 'm', max_tokens: 0, messages: [{ role: 'user', content: 'What is a ledger?' }] };
  const caller = { ...callerOf('chat', body), dialect: anthropicCaller, maxOutput: 0 };

  test('is accepted, while a negative limit is refused', () => {
    expect(invalidMessages(body)).toBeNull();
    expect(invalidMessages({ ...body, max_tokens: -1 })).toMatchObject({ param: 'max_tokens' });
  });

  test.each(['claude-sonnet-4-5', 'claude-sonnet-4-5-thinking'])('is passed to Anthropic unchanged: %s', (model) => {
    const provider = providerOfType(14);
    const { content } = provider.protocol.request({
      provider,
      channel: plainChannel,
      caller,
      model,
      options: usualOptions,
    });
    expect(JSON.parse(content.kind === 'json' ? content.text : '')).toMatchObject({ max_tokens: 0 });
    expect(content).not.toMatchObject({ text: expect.stringContaining('budget_tokens') });
  });

  test('is refused by name for a provider of another protocol, where it would mean something else', () => {
    expect(() => toNeutral(body)).toThrow(NotConvertible);
    expect(() => toNeutral(body)).toThrow('max_tokens');
  });
});
