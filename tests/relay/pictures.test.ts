import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AnswerRoom } from '../../src/relay/upstream/answer-room.js';
import { maxPictureBytes, maxPictures, openPictures } from '../../src/relay/upstream/pictures.js';
import { openUpstream } from '../../src/relay/upstream/upstream.js';
import { startUpstream, type Upstream } from '../support/upstreams/upstream.js';

/* Pictures by their addresses. That none is fetched from inside is shown with the whole gateway. */

let server: Upstream;
const asked: string[] = [];
const upstream = openUpstream({ connections: 64, guard: null });
const pictures = openPictures(upstream);
const large = Buffer.alloc(maxPictureBytes / 2 + 1);

beforeAll(async () => {
  server = await startUpstream(({ url }, response) => {
    asked.push(url);
    if (url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<img>');
    else if (url === '/elsewhere') response.writeHead(302, { location: '/cat', 'content-type': 'image/png' }).end();
    else if (url === '/missing') response.writeHead(404, { 'content-type': 'image/png' }).end('no');
    else if (url === '/cut') {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': '9' });
      response.write('cut', () => response.destroy());
    } else response.writeHead(200, { 'content-type': 'image/PNG; q=1' }).end(url.startsWith('/large') ? large : url);
  });
});
afterAll(async () => {
  await upstream.close();
  await server?.stop();
});

const fetched = (...paths: readonly string[]) =>
  pictures.fetch(
    paths.map((path) => server.url + path),
    null,
    new AnswerRoom(1024 * 1024 * 1024).newSlot('test'),
  );

describe('pictures at URLs', () => {
  test('are fetched once each, with their type', async () => {
    const found = await fetched('/cat', '/dog', '/cat');
    expect([...(found ?? [])]).toEqual(
      ['/cat', '/dog'].map((path) => [
        server.url + path,
        { type: 'image/png', data: Buffer.from(path).toString('base64') },
      ]),
    );
    expect(asked).toEqual(['/cat', '/dog']);
  });

  test.each(['/page', '/elsewhere', '/missing', '/cut'])('are refused with an answer of %s', async (path) => {
    expect(await fetched('/cat', path)).toBeNull();
    expect(asked.at(-1)).toBe(path);
  });

  test('are limited in their total size', async () => {
    expect(await fetched('/large-1')).not.toBeNull();
    expect(await fetched('/large-1', '/large-2')).toBeNull();
  });

  test('are limited in number', async () => {
    const paths = Array.from({ length: maxPictures + 1 }, (_, at) => `/${at}`);
    expect(await fetched(...paths.slice(1))).not.toBeNull();
    expect(await fetched(...paths)).toBeNull();
  });

  test('are absent without an address', async () => {
    expect(await pictures.fetch(['http://'], null, new AnswerRoom(1024 * 1024 * 1024).newSlot('test'))).toBeNull();
  });
});
