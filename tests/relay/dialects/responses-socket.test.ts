import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { BodyRoom } from '../../../src/http/body-room.js';
import { WebSocketCaller } from '../../../src/relay/delivery/websocket-caller.js';
import { eventText } from '../../../src/relay/dialects/named-events.js';
import { Conversation } from '../../../src/relay/dialects/openai/responses-socket/conversation.js';
import { readCreateEvent } from '../../../src/relay/dialects/openai/responses-socket/create-event.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { atOnce } from '../../../src/relay/text/large-work.js';
import { type Frame, SseDecoder } from '../../../src/relay/upstream/sse.js';

const roomOf = (totalBytes: number): BodyRoom =>
  new BodyRoom({ totalBytes, maxBytes: totalBytes, unfinishedPerAddress: 1 });

const conversationIn = (room: BodyRoom): Conversation => {
  const slot = room.enter('127.0.0.1', 1);
  if (slot === null) throw new Error('no room');
  return new Conversation(slot);
};

const read = (text: string, remembered: string | null = null, maxBytes = 1_000_000) =>
  atOnce(readCreateEvent(Buffer.from(text), { itemsOf: () => remembered }, maxBytes));

/** The events as they come to a caller, cut into pieces of so many bytes. */
function hear(conversation: Conversation, events: readonly JsonObject[], piece = 10_000): void {
  const decoder = new SseDecoder({
    frame: (bytes, start, end, from) => conversation.event({ bytes, start, end, from } satisfies Frame),
  });
  const stream = Buffer.from(events.map(({ type, ...rest }) => eventText(String(type), rest)).join(''));
  for (let at = 0; at < stream.length; at += piece) decoder.push(stream.subarray(at, at + piece));
}

const itemDone = (item: JsonObject, output_index = 0): JsonObject => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
const completed = (response: JsonObject): JsonObject => ({ type: 'response.completed', response });

describe('a message of response.create', () => {
  test('becomes a streamed request, otherwise as it is written', () => {
    const { request, warmsUp } = read('{"type":"response.create", "model":"m","temperature":1.0,"input":"Hi"}');
    expect(request.text).toBe('{"model":"m","temperature":1.0,"input":"Hi","stream":true}');
    expect(request.value).toEqual(JSON.parse(request.text));
    expect(warmsUp).toBe(false);
  });

  test('brings new items behind those of the response it names, digits and escapes as they were', () => {
    const earlier = '{"id":"a","number":1.50},{"id":"\\u0062"}';
    const { request, items } = read(
      '{"type":"response.create","previous_response_id":"r","input":[ {"n":12345678901234567890.0} ],"model":"m"}',
      earlier,
    );
    const whole = `${earlier},{"n":12345678901234567890.0}`;
    expect(request.text).toBe(`{"model":"m","stream":true,"input":[${whole}]}`);
    expect(request.value).toEqual(JSON.parse(request.text));
    expect(items).toBe(whole);
  });

  test.each([
    ['a text', '"Hi"', '{"type":"message","role":"user","content":"Hi"}'],
    ['an empty list', '[]', ''],
    ['nothing', 'null', ''],
  ])('whose input is %s brings its items', (_what, input, items) => {
    expect(read(`{"type":"response.create","input":${input}}`).items).toBe(items);
    const { request } = read(`{"type":"response.create","previous_response_id":"r","input":${input}}`, '{"a":1}');
    expect(request.text).toBe(`{"stream":true,"input":[{"a":1}${items === '' ? '' : `,${items}`}]}`);
    expect(request.value).toEqual(JSON.parse(request.text));
  });

  test.each([
    ['a response that this connection does not remember', '"previous_response_id":"elsewhere"'],
    ['a conversation of a provider', '"conversation":"conv_1"'],
  ])('that continues %s is sent unchanged, and its items are not remembered as all of them', (_, names) => {
    const { request, items } = read(`{"type":"response.create",${names},"input":"Hi"}`);
    expect([items, request.text]).toEqual([null, `{${names},"input":"Hi","stream":true}`]);
  });

  test('whose conversation is larger than a request may be is refused', () => {
    const text = '{"type":"response.create","previous_response_id":"r","input":"Hi"}';
    expect(() => read(text, '{"a":1}', text.length + 6)).toThrow('the conversation is larger than');
  });
});

describe('a conversation', () => {
  test.each([1, 7, 10_000])('remembers input and output in their order, in pieces of %i bytes', (piece) => {
    const conversation = conversationIn(roomOf(1_000_000));
    conversation.begin('{"q":1}');
    hear(
      conversation,
      [
        itemDone({ id: 'b' }, 1),
        { type: 'response.someday' },
        itemDone({ id: 'a' }, 0),
        completed({ id: 'r', output: [] }),
      ],
      piece,
    );
    expect(conversation.itemsOf('r')).toBe('{"q":1},{"id":"a"},{"id":"b"}');
    expect(conversation.itemsOf('another')).toBeNull();
  });

  test('reads the items at the end where none was reported before', () => {
    const conversation = conversationIn(roomOf(1_000_000));
    conversation.begin('');
    hear(conversation, [completed({ id: 'r', output: [{ id: 'a' }] })]);
    expect(conversation.itemsOf('r')).toBe('{"id":"a"}');
  });

  test('does not remember a response that upstream has stored', () => {
    const conversation = conversationIn(roomOf(1_000_000));
    conversation.begin('{"q":1}');
    hear(conversation, [itemDone({ id: 'a' }), completed({ id: 'r', store: true })]);
    expect(conversation.itemsOf('r')).toBeNull();
  });

  test('keeps what it remembers when a response fails', () => {
    const conversation = conversationIn(roomOf(1_000_000));
    conversation.begin('{"q":1}');
    hear(conversation, [completed({ id: 'r' })]);
    conversation.begin('{"q":2}');
    hear(conversation, [itemDone({ id: 'a' }), { type: 'response.failed', response: { id: 's' } }]);
    conversation.end();
    expect([conversation.itemsOf('r'), conversation.itemsOf('s')]).toEqual(['{"q":1}', null]);
  });

  test('of a thousand turns counts what it holds, and gives it back', () => {
    const room = roomOf(10_000_000);
    const conversation = conversationIn(room);
    let items = '';
    for (let turn = 0; turn < 1_000; turn++) {
      items = items === '' ? '1' : `${items},1`;
      conversation.begin(items);
      hear(conversation, [completed({ id: `r${turn}` })]);
    }
    expect(conversation.itemsOf('r999')).toHaveLength(1_999);
    expect(room.bytes).toBe(1_999);
    conversation.forget();
    expect(room.bytes).toBe(0);
  });

  test('for which there is no room is not remembered', () => {
    const room = roomOf(100);
    const conversation = conversationIn(room);
    conversation.begin('1'.repeat(101));
    hear(conversation, [completed({ id: 'r' })]);
    expect([conversation.itemsOf('r'), room.bytes]).toEqual([null, 0]);
  });

  test('counts its output as it comes, and is not remembered once there is no room for it', () => {
    const room = roomOf(100);
    const conversation = conversationIn(room);
    conversation.begin('{"q":1}');
    hear(conversation, [completed({ id: 'r' })]);
    conversation.begin('{"q":2}');
    hear(conversation, [itemDone({ id: 'é'.repeat(20) })]);
    // The input of both, and 20 characters of two bytes in `{"id":""}`.
    expect(room.bytes).toBe(7 + 7 + 49);
    hear(conversation, [itemDone({ id: 'b'.repeat(40) }, 1)]);
    expect(room.bytes).toBe(7);
    hear(conversation, [itemDone({ id: 'c' }, 2), completed({ id: 's' })]);
    conversation.end();
    expect([conversation.itemsOf('s'), conversation.itemsOf('r'), room.bytes]).toEqual([null, '{"q":1}', 7]);
  });
});

describe('a caller behind a WebSocket', () => {
  /** One whose other side takes nothing until it is told to. */
  class Slow extends EventEmitter {
    readonly OPEN = 1;
    readyState = 1;
    bufferedAmount = 0;
    terminated = false;
    private readonly taken: (() => void)[] = [];
    send(bytes: Buffer, _options: object, done: () => void): void {
      this.bufferedAmount += bytes.length;
      this.taken.push(done);
    }
    takeAll(): void {
      this.bufferedAmount = 0;
      for (const done of this.taken.splice(0)) done();
    }
    terminate(): void {
      this.terminated = true;
    }
  }

  const callerAt = (socket: Slow): WebSocketCaller =>
    new WebSocketCaller({
      requestId: '1',
      socket: socket as unknown as WebSocket,
      errorEvent: String,
      sending: () => {},
    });

  test('that reads slowly is waited for', async () => {
    const socket = new Slow();
    const caller = callerAt(socket);
    expect(caller.write('data: {}\n\n')).toBe(true);
    expect(caller.write(`data: ${'x'.repeat(64 * 1024)}\n\n`)).toBe(false);
    let drained = false;
    const waiting = caller.drained().then(() => {
      drained = true;
    });
    await Promise.resolve();
    expect(drained).toBe(false);
    socket.takeAll();
    await waiting;
    expect(caller.pending).toBe(0);
  });

  test('that stops reading is terminated as stalled', async () => {
    const socket = new Slow();
    const caller = callerAt(socket);
    let gone = 0;
    caller.whenGone(() => gone++);
    caller.write(`data: ${'x'.repeat(64 * 1024)}\n\n`);
    const waiting = caller.drained();
    caller.giveUp();
    await waiting;
    expect([caller.stalled, caller.gone, gone, socket.terminated]).toEqual([true, true, 1, true]);
  });

  test('gets no frame for a heartbeat, nor for half an event', () => {
    const socket = new Slow();
    const caller = callerAt(socket);
    caller.write(': PING\n\n');
    caller.write('event: a\ndata: {"type"');
    expect(socket.bufferedAmount).toBe(0);
    caller.write(':"a"}\n\n');
    expect(socket.bufferedAmount).toBe('{"type":"a"}'.length);
  });
});
