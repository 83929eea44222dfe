import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressGuard } from '../../../src/outbound/address-guard.js';
import { AnswerRoom } from '../../../src/relay/upstream/answer-room.js';
import { openControlClient } from '../../../src/relay/upstream/control-client.js';
import { openUpstream } from '../../../src/relay/upstream/upstream.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

let server: Upstream;
const asked: string[] = [];
const upstream = openUpstream({ connections: 8, guard: null });
const guarded = openUpstream({ connections: 8, guard: addressGuard([], async () => []) });
const room = new AnswerRoom(2 ** 30);

beforeAll(async () => {
  server = await startUpstream(({ url, headers, body }, response) => {
    asked.push(`${url} ${headers['content-type']} ${body}`);
    if (url === '/elsewhere') response.writeHead(307, { location: '/token' }).end();
    else if (url === '/cut') {
      response.writeHead(200, { 'content-length': '9' });
      response.write('cut', () => response.destroy());
    } else if (url === '/endless') {
      const more = (): void => void (response.write('x'.repeat(1024)) && setImmediate(more));
      response.on('drain', more);
      more();
    } else if (url === '/slow') response.writeHead(200).write('{');
    else response.writeHead(400).end('no');
  });
});
afterAll(async () => {
  await Promise.all([upstream.close(), guarded.close()]);
  await server?.stop();
});

const question = (path: string) => ({
  url: server.url + path,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  content: { kind: 'bytes', type: 'application/x-www-form-urlencoded', bytes: Buffer.from('a=b') } as const,
});
const post = (path: string, patienceMs?: number) =>
  openControlClient(upstream, room, patienceMs).post(question(path), null);

const lost = { ok: false, saturated: false, blocked: false, timedOut: false };

describe('a control request', () => {
  test('is answered with status and body, whatever they are', async () => {
    expect(await post('/token')).toEqual({ ok: true, status: 400, body: Buffer.from('no') });
    expect(asked.at(-1)).toBe('/token application/x-www-form-urlencoded a=b');
  });

  test('follows no redirects', async () => {
    expect(await post('/elsewhere')).toMatchObject({ ok: true, status: 307 });
    expect(asked.at(-1)).toMatch(/^\/elsewhere /);
  });

  test.each(['/cut', '/endless'])('fails at %s', async (path) => {
    expect(await post(path)).toEqual(lost);
  });

  test('waits for the whole answer for a bounded time', async () => {
    expect(await post('/slow', 200)).toEqual({ ...lost, timedOut: true });
  });

  test('respects the SSRF guard', async () => {
    const before = asked.length;
    expect(await openControlClient(guarded, room).post(question('/token'), null)).toMatchObject({
      ok: false,
      blocked: true,
    });
    expect(asked.length).toBe(before);
  });

  test('holds no resources when it has ended', async () => {
    expect(room.bytes).toBe(0);
  });
});
