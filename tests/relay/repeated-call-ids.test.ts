import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/relay/json/json.js';
import { protocols } from '../support/upstreams/dialect-upstreams.js';
import { type Golden, play } from './providers/golden.js';
import { answerSentTo, payloadsIn, receivedBy } from './providers/received-answer.js';

/* Two calls of one answer that upstream gave one id: whoever runs them could not distinguish their results. */

const read = { name: 'read', args: { path: 'a' } };
const write = { name: 'write', args: { path: 'b' } };
const calls = [read, write];

const events = (...frames: readonly JsonObject[]): Buffer =>
  Buffer.from(
    frames
      .map(
        (frame) =>
          `${typeof frame.type === 'string' ? `event: ${frame.type}\n` : ''}data: ${JSON.stringify(frame)}\n\n`,
      )
      .join(''),
  );

const message = {
  ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use' },
  content: calls.map(({ name, args }) => ({ type: 'tool_use', id: 'same', name, input: args })),
  usage: { input_tokens: 9, output_tokens: 9 },
};
const response = {
  candidates: [
    {
      content: { parts: calls.map(({ name, args }) => ({ functionCall: { id: 'same', name, args } })) },
      finishReason: 'STOP',
    },
  ],
};
const completion = {
  ...{ id: 'x', object: 'chat.completion', model: 'm' },
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: calls.map(({ name, args }) => ({
          ...{ id: 'same', type: 'function' },
          function: { name, arguments: JSON.stringify(args) },
        })),
      },
      finish_reason: 'tool_calls',
    },
  ],
};

/** By channel type. */
const whole = [
  [1, completion],
  [14, message],
  [24, response],
] as const;
const streams: readonly (readonly [type: number, bytes: Buffer])[] = [
  [
    14,
    events(
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      ...message.content.flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: message.usage },
      { type: 'message_stop' },
    ),
  ],
  [24, events(response)],
];

/** As a client of the dialect reads them. */
const idsIn = (received: readonly JsonObject[]): unknown[] =>
  [...JSON.stringify(received).matchAll(/"id":"(same[^"]*)"/g)].map(([, id]) => id);

function wholeAnswer({ provider, channel, caller, info, upstream }: Golden): JsonObject[] {
  const answer = provider.protocol.answer({
    provider,
    channel,
    caller,
    status: 200,
    headers: {},
    body: upstream,
    info,
  });
  if (!answer.ok) throw new Error(answer.error.message);
  return [JSON.parse(caller.dialect.whole(answer, caller, channel).toString('utf8')) as JsonObject];
}

const own: Readonly<Record<number, string>> = { 14: 'anthropic', 24: 'gemini' };

describe.each(protocols)('a client of %s', (dialect) => {
  test.each(whole.filter(([type]) => own[type] !== dialect))(
    'receives two tool calls with one id under two ids, in a whole answer of an upstream of type %i',
    (type, answer) => {
      const bytes = Buffer.from(JSON.stringify(answer));
      const received = wholeAnswer(answerSentTo(dialect, type, false, bytes));
      expect(receivedBy(dialect, received, false).calls).toEqual(calls);
      expect(idsIn(received)).toEqual(['same', 'same_1']);
    },
  );

  test.each(streams.filter(([type]) => own[type] !== dialect))(
    'receives two tool calls with one id under two ids, in a stream of an upstream of type %i',
    (type, bytes) => {
      const received = payloadsIn(play(answerSentTo(dialect, type, true, bytes), [bytes]).answer);
      expect(receivedBy(dialect, received, true).calls).toEqual(calls);
      expect(idsIn(received)).toEqual(['same', 'same_1']);
    },
  );
});
