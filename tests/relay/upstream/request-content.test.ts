import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UpstreamRequest } from '../../../src/relay/contracts/protocol.js';
import { AnswerRoom } from '../../../src/relay/upstream/answer-room.js';
import {
  bodyOf,
  contentTypeOf,
  type FormPart,
  formContent,
  noContent,
  type RequestContent,
  wordsOf,
} from '../../../src/relay/upstream/request-content.js';
import { openUpstream } from '../../../src/relay/upstream/upstream.js';

/* An upstream that says what came: method, type and bytes. */
const server = createServer(async (request, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const { method, headers } = request;
  response.end(
    JSON.stringify({ method, type: headers['content-type'] ?? null, body: Buffer.concat(pieces).toString('hex') }),
  );
});
const upstream = openUpstream({ connections: 4, guard: null });

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  await upstream.close();
  server.close();
});

async function arrived(method: UpstreamRequest['method'], content: RequestContent) {
  const type = contentTypeOf(content);
  const { port } = server.address() as AddressInfo;
  const headers: Record<string, string> = type === null ? {} : { 'content-type': type };
  const options = { proxy: null, timeoutMs: 60_000, idleMs: 60_000, payer: null };
  const { sent } = upstream.send({ method, url: `http://127.0.0.1:${port}/v1/x`, headers, content }, options);
  const answer = await sent;
  if (!answer.ok) throw new Error('nothing came');
  const slot = new AnswerRoom(2 ** 30).newSlot('test');
  const received = JSON.parse(String(await answer.answer.body.whole(100_000, slot)));
  return { method: received.method, type: received.type, body: Buffer.from(received.body, 'hex') };
}

describe('a request to an upstream', () => {
  test.each([
    ['may ask for something without sending anything', 'GET', noContent, null, ''],
    ['may be JSON', 'POST', { kind: 'json', text: '{"a":"é"}' }, 'application/json', '{"a":"é"}'],
    ['may be bytes', 'POST', { kind: 'bytes', type: 'audio/wav', bytes: Buffer.from('RIFF') }, 'audio/wav', 'RIFF'],
  ] as const)('%s', async (_what, method, content, type, body) => {
    const came = await arrived(method, content);
    expect([came.method, came.type, came.body.toString()]).toEqual([method, type, body]);
  });

  test('may be a form with files in it, which any form parser can read', async () => {
    const sound = Buffer.from([0, 13, 10, 45, 45, 255]);
    const parts = [
      { name: 'model', text: 'whisper-1' },
      { name: 'file', fileName: 'a "b".wav', type: 'audio/wav', bytes: sound },
    ];
    const { type, body } = await arrived('POST', formContent(parts));
    const form = await new Response(body, { headers: { 'content-type': type } }).formData();
    expect(form.get('model')).toBe('whisper-1');
    const file = form.get('file') as File;
    expect([file.name, file.type, Buffer.from(await file.arrayBuffer())]).toEqual(['a "b".wav', 'audio/wav', sound]);
  });
});

test('no name, type or text of a form ends its part, or begins another', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\r', '\n', '-', ';', '=', '%', 'é'), maxLength: 20 });
  const file = fc.record({ name: text, fileName: text, type: text, bytes: fc.uint8Array().map(Buffer.from) });
  const part: fc.Arbitrary<FormPart> = fc.oneof(fc.record({ name: text, text }), file);
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 4 }), async (parts) => {
      const content = formContent(parts);
      const body = String(bodyOf(content));
      const { boundary } = content as { boundary: string };
      expect(body.split(`--${boundary}`)).toHaveLength(parts.length + 2);
      for (const section of body.split(`--${boundary}\r\n`).slice(1)) {
        const [head = ''] = section.split('\r\n\r\n', 1);
        const lines = head.split('\r\n').length;
        expect(head.startsWith('content-disposition: form-data; name="')).toBe(true);
        expect(lines).toBeLessThanOrEqual(2);
      }
    }),
  );
});

test.each([
  ['of JSON are its text', { kind: 'json', text: '{"a":1}' }, '{"a":1}'],
  [
    'of a form are its texts and the names of its files',
    formContent([
      { name: 'p', text: 'hi' },
      { name: 'f', fileName: 'x.wav', type: 't', bytes: Buffer.from('zz') },
    ]),
    'hi\nx.wav',
  ],
  ['of bytes are none', { kind: 'bytes', type: 't', bytes: Buffer.from('zz') }, ''],
] satisfies [string, RequestContent, string][])(
  'the request text that a failure may repeat is known, %s',
  (_what, content, words) => {
    expect(wordsOf(content)).toBe(words);
  },
);
