import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { BodyRoom } from '../../src/http/body-room.js';
import { requestBodies } from '../../src/relay/callers/request-body.js';
import { LargeWork } from '../../src/relay/large-work.js';
import { SoundLengths } from '../../src/relay/sound-length.js';

const mebibyte = 1024 * 1024;

test('a body cut into crumbs counts what they take, and gives it back', async () => {
  const room = new BodyRoom({ totalBytes: mebibyte, largestBytes: mebibyte, unfinishedPerAddress: 1 });
  const request = Object.assign(new PassThrough(), { headers: {} });
  const reading = requestBodies(room, new LargeWork(), new SoundLengths(), mebibyte).json(
    request as unknown as IncomingMessage,
    '203.0.113.7',
    1,
  );
  const text = JSON.stringify({ words: 'x'.repeat(1000) });
  for (const character of text) request.write(character);
  request.end();
  const body = await reading;
  expect([body.bytes, body.value]).toEqual([text.length, JSON.parse(text)]);
  expect(room.bytes).toBeGreaterThan(32 * text.length);
  body.leave();
  expect(room.bytes).toBe(0);
});
