import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/relay/json/json.js';
import { wordsOf } from '../../../../src/relay/upstream/request-content.js';
import { protocols } from '../../../support/upstreams/dialect-upstreams.js';
import { lastEventOf, messageItem, responseOf } from '../../../support/upstreams/responses-answers.js';
import { play } from '../../providers/golden.js';
import { answerSentTo } from '../../providers/received-answer.js';

/* Whatever an upstream sends where a response is expected: it is an answer or a failure, and never a fault of ours. */

const responsesOnly = { responsesOnly: true };

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(null, -1, 1e300, '', [], {}, [null], [{}]),
);
const type = fc.constantFrom(
  ...['message', 'reasoning', 'function_call', 'custom_tool_call', 'web_search_call', 'code_interpreter_call', 'x'],
);
const part = fc.record(
  {
    type: fc.constantFrom('output_text', 'refusal', 'summary_text', 'x'),
    text: odd,
    refusal: odd,
    annotations: odd,
    logprobs: odd,
  },
  { requiredKeys: [] },
);
const item = fc.record(
  {
    ...{ type, id: odd, call_id: odd, name: odd, arguments: odd, input: odd, encrypted_content: odd, action: odd },
    content: fc.oneof(odd, fc.array(part, { maxLength: 3 })),
    summary: fc.oneof(odd, fc.array(part, { maxLength: 3 })),
  },
  { requiredKeys: ['type'] },
);
const usage = fc.oneof(
  odd,
  fc.record(
    { input_tokens: odd, output_tokens: odd, input_tokens_details: odd, total_tokens: odd },
    { requiredKeys: [] },
  ),
);
const response = fc.record(
  {
    ...{ id: odd, model: odd, created_at: odd, service_tier: odd, error: odd, incomplete_details: odd, usage },
    status: fc.oneof(odd, fc.constantFrom('completed', 'incomplete', 'failed', 'in_progress')),
    output: fc.oneof(odd, fc.array(fc.oneof(item, odd), { maxLength: 4 })),
  },
  { requiredKeys: [] },
);
const event = fc.record(
  {
    type: fc.constantFrom(
      ...['response.created', 'response.output_item.added', 'response.output_item.done', 'response.output_text.delta'],
      ...['response.function_call_arguments.delta', 'response.custom_tool_call_input.delta', 'response.refusal.delta'],
      ...['response.reasoning_summary_text.delta', 'response.reasoning_text.delta', 'response.x', 'error'],
      ...['response.output_text.annotation.added', 'response.completed', 'response.incomplete', 'response.failed'],
    ),
    ...{ output_index: odd, content_index: odd, summary_index: odd, sequence_number: odd, item_id: odd, logprobs: odd },
    delta: fc.oneof(odd, fc.string()),
    annotation: odd,
    item: fc.oneof(item, odd),
    response: fc.oneof(response, odd),
  },
  { requiredKeys: ['type'] },
);

const framed = (told: JsonObject): string => `event: ${told.type}\ndata: ${JSON.stringify(told)}\n\n`;

describe.each(protocols)('a client of %s', (dialect) => {
  test('gets an answer or a failure of any events, in any order, cut anywhere', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), fc.nat(), (events, place) => {
        const bytes = Buffer.from(events.map((one) => framed(one as JsonObject)).join(''));
        const at = bytes.length === 0 ? 0 : place % bytes.length;
        const golden = answerSentTo(dialect, 1, true, bytes, responsesOnly);
        const cut = play(golden, [bytes.subarray(0, at), bytes.subarray(at)]);
        expect(JSON.stringify(cut)).toBe(JSON.stringify(play(golden, [bytes])));
        for (const count of Object.values(cut.usage ?? {})) expect(count).toBeGreaterThanOrEqual(0);
      }),
      {
        numRuns: 300,
        // An object that hides its own conversion to a text.
        examples: [
          [[{ type: 'response.reasoning_text.delta', summary_index: { toString: 0 }, delta: ' ' }], 0],
        ] as never,
      },
    );
  });

  test('gets an answer or a failure of any whole response', () => {
    fc.assert(
      fc.property(response, (told) => {
        const bytes = Buffer.from(JSON.stringify(told));
        const { provider, channel, caller, info } = answerSentTo(dialect, 1, false, bytes, responsesOnly);
        const answer = provider.protocol.answer({
          ...{ provider, channel, caller, status: 200, headers: {}, body: bytes, info },
        });
        if (answer.ok) JSON.parse(caller.dialect.whole(answer, caller, channel).toString('utf8'));
        else expect(answer.error.status).toBeGreaterThanOrEqual(400);
      }),
      { numRuns: 300 },
    );
  });
});

test('a stream of 20,000 items keeps a bounded part of them', () => {
  const items = Array.from({ length: 20_000 }, (_, at) => ({ ...messageItem('a'), id: `msg_${at}` }));
  const events = items.map((one, output_index) =>
    framed({ type: 'response.output_item.done', output_index, item: one }),
  );
  const bytes = Buffer.from(events.join('') + lastEventOf(responseOf([])));
  const { answer, finished } = play(answerSentTo('openai', 1, true, bytes, responsesOnly), [bytes]);
  expect(finished).toBe(true);
  expect(answer.split('\n\n').length).toBeLessThan(5_000);
});

test('a request of 10,000 messages has as many items', () => {
  const messages = Array.from({ length: 10_000 }, (_, at) => ({
    role: at % 2 ? 'assistant' : 'user',
    content: `${at}`,
  }));
  const golden = answerSentTo('openai', 1, false, Buffer.alloc(0), responsesOnly);
  const body = { model: 'gpt-5', messages };
  const caller = { ...golden.caller, body, neutral: () => ({ mode: 'chat' as const, body }) };
  const { content } = golden.provider.protocol.request({
    ...{ provider: golden.provider, channel: golden.channel, caller, model: 'gpt-5', options: golden.options },
  });
  expect((JSON.parse(wordsOf(content)) as { input: unknown[] }).input).toHaveLength(10_000);
});
