import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { BodyRoom } from '../../../src/http/body-room.js';
import { requestBodies } from '../../../src/relay/dialects/request-body.js';
import { SoundLengths } from '../../../src/relay/sound/sound-length.js';
import { LargeWork } from '../../../src/relay/text/large-work.js';
import { mp3, wav } from '../../support/inputs/sound-files.js';

const mebibyte = 1024 * 1024;

test('a body cut into tiny chunks counts the memory they take, and releases it', async () => {
  const room = new BodyRoom({ totalBytes: mebibyte, maxBytes: mebibyte, unfinishedPerAddress: 1 });
  const request = Object.assign(new PassThrough(), { headers: {} });
  const reading = requestBodies(room, new LargeWork(), new SoundLengths(), mebibyte).json(request, '203.0.113.7', 1);
  const text = JSON.stringify({ words: 'x'.repeat(1000) });
  for (const character of text) request.write(character);
  request.end();
  const body = await reading;
  expect([body.bytes, body.value]).toEqual([text.length, JSON.parse(text)]);
  expect(room.bytes).toBeGreaterThan(32 * text.length);
  body.leave();
  expect(room.bytes).toBe(0);
});

describe('an uploaded form with a file', () => {
  const boundary = 'b'.repeat(20);
  const form = (file: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`),
      file,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
  const room = new BodyRoom({ totalBytes: 4 * mebibyte, maxBytes: mebibyte, unfinishedPerAddress: 4 });
  const lengths = new SoundLengths();
  const bodies = requestBodies(room, new LargeWork(), lengths, 2 * mebibyte);

  const sent = (body: Buffer, encoding: Record<string, string> = {}) => {
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, ...encoding };
    const request = Object.assign(new PassThrough(), { headers });
    request.end(body);
    return bodies.multipartAudio(request, '203.0.113.7', 1);
  };
  const packed = { 'content-encoding': 'gzip' };

  test('may be compressed, is counted by its decompressed size, and releases its memory', async () => {
    const file = wav(3);
    const body = await sent(gzipSync(form(file)), packed);
    expect(body.upload?.files[0]?.bytes.equals(file)).toBe(true);
    expect(body.upload?.length?.said).toBe(3);
    expect([body.bytes, room.bytes]).toEqual([form(file).length, form(file).length]);
    body.leave();
    expect(room.bytes).toBe(0);
  });

  test.each([
    ['that is larger than the body limit', form(Buffer.alloc(2 * mebibyte)), {}, 413],
    ['that decompresses to more than the body limit', gzipSync(form(Buffer.alloc(3 * mebibyte))), packed, 413],
    ['that is larger than its sender’s share', form(Buffer.alloc(1.5 * mebibyte, 1)), {}, 429],
    ['that is not compressed as it declares', form(wav(1)), packed, 400],
    ['that is cut off', form(wav(1)).subarray(0, 9_000), {}, 400],
  ])('%s is refused, and releases everything', async (_what, body, encoding, status) => {
    await expect(sent(body, encoding)).rejects.toMatchObject({ status });
    expect(room.bytes).toBe(0);
  });

  test.each([
    ['many of its sender’s', Array.from({ length: 16 }, () => 1), 429],
    ['too many of other senders’', Array.from({ length: 64 }, (_, index) => 2 + index), 503],
  ])('is refused temporarily while %s wait to be parsed', async (_whose, holders, status) => {
    const long = mp3(40_000);
    const waiting = holders.map((holder) => lengths.of(long, holder));
    await expect(sent(form(wav(1)))).rejects.toMatchObject({ status, retryAfter: '1' });
    await Promise.all(waiting);
    expect((await sent(form(wav(1)))).upload?.length?.said).toBe(1);
  });
});
