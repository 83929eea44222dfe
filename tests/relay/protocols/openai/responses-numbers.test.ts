import { describe, expect, test } from 'vitest';
import { RelayError } from '../../../../src/relay/contracts/errors.js';
import type { AnswerStream } from '../../../../src/relay/contracts/protocol.js';
import { responses } from '../../../../src/relay/dialects/openai/endpoints/responses.js';
import { type JsonObject, parseJson } from '../../../../src/relay/json/json.js';
import { callItem, eventsOf, messageItem, responseOf, streamOf } from '../../../support/upstreams/responses-answers.js';
import { callerOf, plainChannel, providerOfType } from '../../providers/golden.js';

/* Numbers of events and of items in streams of the Responses interface. */

const info = { callId: 'call-1', model: 'm', createdAt: 1_760_000_000 };

function opened(): AnswerStream {
  const provider = providerOfType(1);
  const caller = { ...callerOf('responses', { model: 'm', input: 'x', stream: true }), dialect: responses.dialect };
  return provider.protocol.stream({ provider, channel: plainChannel, caller, info });
}

const text = 'Every charge can be proved, and every charge that cannot is given back. '.repeat(8);
const answered = responseOf([messageItem(text), callItem('{"city":"Höfn"}')]);

const numbersIn = (sent: string): number[] =>
  [...sent.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));

describe('the error of a stream that breaks off', () => {
  test.each([1, 7, 64, 1_000, 100_000])('has the number behind the last event, in pieces of %s bytes', (size) => {
    const stream = opened();
    const bytes = Buffer.from(eventsOf(answered).join(''));
    let sent = '';
    for (let at = 0; at < bytes.length; at += size) {
      sent += stream.push(Buffer.from(bytes.subarray(at, at + size))).bytes?.toString() ?? '';
      const last = numbersIn(sent).at(-1);
      expect(stream.nextSequence).toBe(last === undefined ? 0 : last + 1);
    }
    expect(stream.nextSequence).toBe(eventsOf(answered).length);
  });

  test('does not count the last event, which is not sent then', () => {
    const stream = opened();
    stream.push(Buffer.from(streamOf(answered)));
    expect(stream.nextSequence).toBe(eventsOf(answered).length);
  });

  test('is two events with numbers of their own', () => {
    const frame = responses.dialect.errorFrame(new RelayError(500, 'x', 'broke off'), 'req', {
      begun: true,
      sequence: 7,
    });
    const events = frame.match(/(?<=data: ).*/g)?.map((data) => parseJson(data) as JsonObject);
    expect(events?.map(({ type, sequence_number: number }) => [type, number])).toEqual([
      ['error', 7],
      ['response.failed', 8],
    ]);
  });
});

describe('items whose events have no number', () => {
  const event = (type: string, more: JsonObject): string => `data: ${JSON.stringify({ type, ...more })}\n\n`;
  const call = (id: string, given = ''): JsonObject => ({ ...callItem(given), id, call_id: id });
  const piece = (item_id: string, delta: string): string =>
    event('response.function_call_arguments.delta', { item_id, delta });
  const ended = (id: string): string => event('response.output_item.done', { item: call(id, '{"a":1}') });

  test('are distinguished by their ids, also where they come at the same time', () => {
    const stream = opened();
    stream.push(Buffer.from([piece('fc_1', '{"a"'), piece('fc_2', '{"a":1}'), piece('fc_1', ':1}')].join('')));
    stream.push(Buffer.from([ended('fc_2'), ended('fc_1')].join('')));
    const { said, toolCalls } = stream.generated;
    // Their arguments once, and their names.
    expect([toolCalls, said.length]).toEqual([2, 2 * ('{"a":1}'.length + 'look_up'.length)]);
  });

  test('count once, however often they end', () => {
    const stream = opened();
    stream.push(Buffer.from([ended('fc_1'), ended('fc_1')].join('')));
    expect(stream.generated.toolCalls).toBe(1);
  });

  test('and no id count one after the other', () => {
    const stream = opened();
    const { id: _, call_id: __, ...bare } = call('fc_1', '{}');
    stream.push(Buffer.from(event('response.output_item.done', { item: bare }).repeat(3)));
    expect(stream.generated.toolCalls).toBe(3);
  });
});
