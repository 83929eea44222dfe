import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StoredResponses } from '../../../src/application/ports/stored-response-ports.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { BodyRoom } from '../../../src/http/body-room.js';
import type { HeldBody } from '../../../src/relay/contracts/ports.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import type { ResolvedCall } from '../../../src/relay/pipeline/call-context.js';
import { channelParser } from '../../../src/relay/pipeline/channels/channel-settings.js';
import type { KeptRequest } from '../../../src/relay/pipeline/kept/kept-resource.js';
import { maxConversationBytes } from '../../../src/relay/pipeline/kept/packed-conversation.js';
import { continuedBody, holdConversation } from '../../../src/relay/pipeline/kept/stored-conversation.js';
import { serveStored } from '../../../src/relay/pipeline/kept/stored-resource.js';
import type { StagePorts } from '../../../src/relay/pipeline/stage-ports.js';
import { providerOf } from '../../../src/relay/providers/registry.js';
import { LargeWork } from '../../../src/relay/text/large-work.js';
import { AnswerRoom } from '../../../src/relay/upstream/answer-room.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { until } from '../../support/until.js';
import { endpoints } from '../../support/upstreams/endpoints.js';

/* Conversations from a call whose response is stored to a call that continues it, over a store in memory. */

const alice = UserId(7);
const callId = '20261128120000000abcdefgh';
const id = `resp_${callId}`;
const { responses } = endpoints;
const answer = {
  ...{ id, object: 'response', status: 'completed' },
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Paper.' }] }],
};

let stored: Map<string, Buffer>;
/** Reserved, shrunk and released. */
let room: string[];
let hasRoom: boolean;
let warned: string[];

const storedResponses: StoredResponses = {
  reserve(_user, reservedId, bytes) {
    if (!hasRoom) return null;
    room.push(`reserve ${bytes}`);
    return () => void room.push(`release ${reservedId}`);
  },
  shrink: (shrunk, bytes) => void room.push(`shrink ${shrunk} ${bytes}`),
  put: ({ id: put, content }) => void stored.set(put, content),
  find: async (_user, found) => stored.get(found) ?? null,
  remove: async (_user, removed) => stored.delete(removed),
};

const conversationRoom = new BodyRoom({
  ...{ totalBytes: maxConversationBytes, maxBytes: maxConversationBytes },
  unfinishedPerAddress: 10,
});
const ports = {
  ...{ storedResponses, conversationRoom, providerOf, parsedChannel: channelParser() },
  ...{ clock: settableClock(someInstant), largeWork: new LargeWork() },
  directory: { settings: () => ({ storesResponses: true, keepsUpstream: false }) },
  log: {
    warn: (_facts: unknown, message: string) => void warned.push(message),
    error: (_facts: unknown, message: string) => void warned.push(message),
  },
  stalledCallers: { watch: () => {} },
} as unknown as StagePorts;

const call = {
  incoming: { endpoint: responses, ip: '192.0.2.1', requestId: callId },
  user: { id: alice },
  resolution: { channels: [{ id: 1, settings: { type: 25, setting: '', modelMapping: '' } }] },
} as unknown as ResolvedCall;

function bodyOf(value: JsonObject, more: Partial<HeldBody> = {}): HeldBody {
  const text = JSON.stringify(value);
  return { text, value, bytes: Buffer.byteLength(text), upload: null, leave: () => {}, ...more };
}

const store = async (input: string): Promise<void> => {
  const held = await holdConversation(ports, call, bodyOf({ input }));
  held?.store(Buffer.from(JSON.stringify(answer)), false);
  await until(async () => (stored.has(id) ? true : null));
  held?.leave();
};
/** Said once, in a body of so many bytes. */
const inputOf = (bytes: number): string => 'x'.repeat(bytes - Buffer.byteLength(JSON.stringify({ input: '' })));
const previous = { input: 'On?', previous_response_id: id };
const packed = (input: Buffer, response: string): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(input.length);
  return Buffer.concat([length, input, Buffer.from(response)]);
};
const notDeflated = randomBytes(2 * 1024 * 1024);

beforeEach(() => {
  stored = new Map();
  room = [];
  hasRoom = true;
  warned = [];
});

describe('the response of a call', () => {
  test('is continued, however near its input comes to the bound of what is stored', async () => {
    for (const short of [0, 25, 60]) {
      const input = inputOf(maxConversationBytes - short);
      await store(input);
      const { value, continues } = await continuedBody(ports, alice, responses, bodyOf(previous));
      expect([continues, warned]).toEqual([id, []]);
      expect((value.input as JsonObject[]).map(({ content }) => content)).toMatchObject([
        input,
        [{ text: 'Paper.' }],
        'On?',
      ]);
      stored.clear();
    }
    expect(await holdConversation(ports, call, bodyOf({ input: inputOf(maxConversationBytes + 1) }))).toBeNull();
  });

  test('has its room reserved while it is made, which shrinks to what its input is packed to, and is given back', async () => {
    const input = inputOf(100_000);
    const held = await holdConversation(ports, call, bodyOf({ input }));
    expect(room).toEqual([expect.stringMatching(/^reserve 1\d{5}$/)]);
    const shrunk = await until(async () => room[1] ?? null);
    expect(Number(shrunk.replace(`shrink ${id} `, ''))).toBeLessThan(20_000);
    held?.leave();
    expect(await until(async () => room[2] ?? null)).toBe(`release ${id}`);
    expect([stored.size, conversationRoom.bytes]).toEqual([0, 0]);
  });

  test('is not to be stored where no room is left for it', async () => {
    hasRoom = false;
    expect(await holdConversation(ports, call, bodyOf({ input: 'What is it made of?' }))).toBeNull();
    expect(conversationRoom.bytes).toBe(0);
  });
});

describe('room for a stored response', () => {
  test('is taken for what is stored before that is unpacked, and for the rest of it after that', async () => {
    const input = inputOf(100_000);
    await store(input);
    const taken: number[] = [];
    const { bytes } = await continuedBody(
      ports,
      alice,
      responses,
      bodyOf(previous, { takeMore: (more) => void taken.push(more) }),
    );
    expect(taken[0]).toBe(stored.get(id)?.length);
    expect(taken.reduce((one, other) => one + other)).toBe(bytes - bodyOf(previous).bytes);
  });

  test('that is not there is said, and nothing is unpacked', async () => {
    stored.set(id, packed(notDeflated, '{}'));
    const takeMore = (): never => {
      throw new Error('no room');
    };
    await expect(continuedBody(ports, alice, responses, bodyOf(previous, { takeMore }))).rejects.toThrow('no room');
    expect(warned).toEqual([]);
  });
});

describe('a stored response that is looked at', () => {
  const answers = new AnswerRoom(64 * 1024 * 1024);
  /** As small as a room can be. */
  const narrow = new AnswerRoom(8 * 1024 * 1024);
  let answerRoom = answers;
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://gateway');
    const rest = pathname.split('/').slice(2);
    const slot = answerRoom.newSlot(alice);
    const asked = {
      ...{ response, head: [], requestId: callId, endpoint: responses, kind: 'response' },
      ...{ id, rest, method: 'GET', query: searchParams },
    } as unknown as KeptRequest;
    try {
      if (!(await serveStored(ports, asked, alice, slot))) response.writeHead(404).end();
    } catch (error) {
      const { status, code } = error as { status?: number; code?: string };
      response.writeHead(status ?? 500).end(String(code));
    } finally {
      slot.leave();
    }
  });
  const get = async (path: string): Promise<readonly [status: number, text: string]> => {
    const { port } = server.address() as AddressInfo;
    const got = await fetch(`http://127.0.0.1:${port}/${path}`);
    return [got.status, await got.text()];
  };

  beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => void server.close(resolve)));
  beforeEach(() => {
    answerRoom = answers;
  });

  test('is shown without its input being unpacked', async () => {
    stored.set(id, packed(notDeflated, '{"id":"ü"}'));
    expect(await get(id)).toEqual([200, '{"id":"ü"}']);
    expect(warned).toEqual([]);
    expect(await get(`${id}/input_items`)).toEqual([404, '']);
    expect(warned).toEqual(['a stored response cannot be read']);
  });

  test('is not found where it is cut off', async () => {
    stored.set(id, packed(notDeflated, '{}').subarray(0, 1_000));
    expect(await get(id)).toEqual([404, '']);
    expect(warned).toEqual(['a stored response cannot be read']);
  });

  test('is refused where there is no room for it, before anything is unpacked', async () => {
    answerRoom = narrow;
    stored.set(id, packed(notDeflated, '{}'));
    for (const path of [id, `${id}/input_items`]) expect(await get(path)).toEqual([503, 'answers_exhausted']);
    expect([warned, narrow.bytes]).toEqual([[], 0]);
  });

  test('has the items of its input counted as they are unpacked', async () => {
    await store(inputOf(4 * 1024 * 1024));
    expect((await get(`${id}/input_items`))[0]).toBe(200);
    answerRoom = narrow;
    expect((await get(id))[0]).toBe(200);
    expect(await get(`${id}/input_items`)).toEqual([503, 'answers_exhausted']);
    expect([answers.bytes, narrow.bytes]).toEqual([0, 0]);
  });
});
