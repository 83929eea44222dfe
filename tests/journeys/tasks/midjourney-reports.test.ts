import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CallId } from '../../../src/domain/kernel/ids.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { html, type MidjourneyProxy, startMidjourneyProxy } from '../../support/stand-ins/midjourney-proxy.js';

/* What a proxy reports by itself, and the pictures that it has put somewhere. */

let gateway: TestGateway;
let callers: Callers;
let proxy: MidjourneyProxy;
let cdn: Server;
let cdnUrl: string;
let user: TestUser;
let owner: Caller;

const post = async (path: string, body: JsonObject, caller = owner) => {
  const headers = { 'content-type': 'application/json' };
  const { status, text } = await caller.send(path, { method: 'POST', headers, body });
  return { status, body: JSON.parse(text) as JsonObject };
};
const fetched = async (id: string) => JSON.parse((await owner.send(`/mj/task/${id}/fetch`)).text) as JsonObject;
const drawn = async (): Promise<string> => String((await post('/mj/submit/imagine', { prompt: 'a cat' })).body.result);
const hookOf = () => new URL(String(proxy.last.request.body.notifyHook));

const asked: string[] = [];
const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(200_000, 7)]);

beforeAll(async () => {
  cdn = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/1.png') return response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
    if (request.url === '/page') return response.writeHead(200, { 'content-type': 'text/html' }).end('<script>');
    if (request.url === '/drawing.svg')
      return response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg/>');
    if (request.url === '/moved') return response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    if (request.url === '/announced')
      return response.writeHead(200, { 'content-type': 'image/png', 'content-length': '5000000000' }).write('x');
    if (request.url === '/endless') {
      response.writeHead(200, { 'content-type': 'image/png' });
      const more = (): void => {
        while (!response.destroyed && response.write(picture));
        if (!response.destroyed) response.once('drain', more);
      };
      return more();
    }
    response.writeHead(404, { 'content-type': 'text/plain' }).end('gone');
  });
  cdn.listen(0, '127.0.0.1');
  gateway = await startTestGateway();
  cdnUrl = `http://127.0.0.1:${(cdn.address() as AddressInfo).port}`;
  callers = openCallers(gateway.url);
  proxy = await startMidjourneyProxy();
  await gateway.addChannel({ type: 5, baseUrl: proxy.url, models: ['mj_imagine'] });
  await gateway.setOption('MjNotifyEnabled', 'true');
  await gateway.setOption('ServerAddress', gateway.url);
  user = await gateway.addUser(1_000_000_000);
  owner = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await proxy?.stop();
  cdn?.closeAllConnections();
  cdn?.close();
});

describe('a report of progress', () => {
  test('is taken, out of order and doubled too, and progress never goes back', async () => {
    const id = await drawn();
    // What the task says when it is asked stays behind its reports.
    expect(await proxy.report(id, { status: 'IN_PROGRESS', progress: '60%' })).toBe(200);
    expect(await proxy.report(id, { status: 'IN_PROGRESS', progress: '60%' })).toBe(200);
    expect(await proxy.report(id, { status: 'SUBMITTED', progress: '10%' })).toBe(200);
    await expect.poll(async () => fetched(id)).toMatchObject({ status: 'IN_PROGRESS', progress: '60%' });
  });

  test('of a failure that the proxy does not confirm moves no money', async () => {
    const before = await gateway.available(user);
    const id = await drawn();
    const charged = await gateway.available(user);
    expect(charged).toBeLessThan(before);
    expect(await proxy.report(id, { status: 'FAILURE', progress: '100%', failReason: 'forged' })).toBe(200);
    expect((await fetched(id)).status).not.toBe('FAILURE');
    expect(await gateway.available(user)).toBe(charged);
  });

  test('of a failure that the proxy confirms refunds once, and later reports change nothing', async () => {
    const before = await gateway.available(user);
    const id = await drawn();
    proxy.become(id, { status: 'FAILURE', progress: '100%', failReason: 'banned' });
    await Promise.all([proxy.report(id), proxy.report(id), proxy.report(id)]);
    await expect.poll(async () => (await fetched(id)).status).toBe('FAILURE');
    await expect.poll(() => gateway.available(user)).toBe(before);
    proxy.become(id, { status: 'SUCCESS', progress: '100%', failReason: '' });
    expect(await proxy.report(id)).toBe(200);
    expect((await fetched(id)).status).toBe('FAILURE');
    expect(await gateway.available(user)).toBe(before);
  });
});

describe('a report that is forged', () => {
  const report = async (path: string, body: JsonObject = {}) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return answer.status;
  };

  test('with a secret that is wrong, of another call or left out is not found', async () => {
    await drawn();
    const one = hookOf().pathname;
    await drawn();
    const two = hookOf().pathname;
    const [, , , callId, secret] = one.split('/');
    const [, , , otherId] = two.split('/');
    expect(await report(`/mj/notify/${otherId}/${secret}`)).toBe(404);
    expect(await report(`/mj/notify/${callId}/${'A'.repeat(22)}`)).toBe(404);
    expect(await report(`/mj/notify/${callId}`)).toBe(404);
    expect(await report('/mj/notify')).toBe(404);
    expect(await report(`/mj/notify/${CallId('20261128000000000000000AAAAAAAA')}/${secret}`)).toBe(404);
  });

  test('of another task than the one its address was given for is refused', async () => {
    const other = await drawn();
    await drawn();
    expect(await report(hookOf().pathname, { id: other, status: 'IN_PROGRESS', progress: '90%' })).toBe(400);
    expect(await report(hookOf().pathname, { nonsense: true })).toBe(400);
    expect((await fetched(other)).progress).toBe('0%');
  });

  test('is not found where reports are switched off', async () => {
    const id = await drawn();
    await gateway.setOption('MjNotifyEnabled', 'false');
    expect(await proxy.report(id, { status: 'IN_PROGRESS', progress: '20%' })).toBe(404);
    await gateway.setOption('MjNotifyEnabled', 'true');
  });
});

describe('the picture of a task', () => {
  const pictured = async (path: string): Promise<string> => {
    const id = await drawn();
    proxy.become(id, { status: 'SUCCESS', progress: '100%', imageUrl: cdnUrl + path });
    return String((await fetched(id)).imageUrl);
  };

  test('has an address of this gateway, by which it is passed on without a key', async () => {
    const url = await pictured('/1.png');
    expect(url).toMatch(new RegExp(`^${gateway.url}/mj/image/\\d+\\.[\\w-]{22}$`));
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(Buffer.from(await answer.arrayBuffer()).equals(picture)).toBe(true);
  });

  test('is unknown under every other address', async () => {
    const url = await pictured('/1.png');
    const name = url.split('/').at(-1) ?? '';
    const [id = '', signature = ''] = name.split('.');
    const names = [id, `${id}.`, `${id}.${'A'.repeat(22)}`, `${Number(id) - 1}.${signature}`, `0${name}`, 'x'];
    for (const forged of names) {
      const answer = await fetch(`${gateway.url}/mj/image/${forged}`);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({ error: 'midjourney_task_not_found' });
    }
  });

  test.each([
    ['a page', '/page', 500],
    ['a document that may hold scripts', '/drawing.svg', 500],
    ['a redirect to elsewhere', '/moved', 500],
    ['an announced length of 5 GB', '/announced', 500],
    ['nothing', '/gone', 404],
  ])('that is %s is not passed on', async (_what, path, status) => {
    const url = await pictured(path);
    asked.length = 0;
    const answer = await fetch(url);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ error: expect.stringContaining(status === 500 ? 'http_get_image' : '404') });
    expect(asked).toEqual([path]);
  });

  test('that has no end is cut at 32 MiB, so that who loads it sees that it is not whole', async () => {
    const url = await pictured('/endless');
    const answer = await fetch(url);
    let read = 0;
    const reading = (async () => {
      for await (const piece of answer.body ?? []) read += piece.length;
    })();
    await expect(reading).rejects.toThrow();
    expect(read).toBeLessThanOrEqual(32 * 1024 * 1024);
  });

  test('keeps the address of the proxy where forwarding is switched off', async () => {
    await gateway.setOption('MjForwardUrlEnabled', 'false');
    expect(await pictured('/1.png')).toBe(`${cdnUrl}/1.png`);
    await gateway.setOption('MjForwardUrlEnabled', 'true');
  });

  test('of an unfinished task has another address each time', async () => {
    const id = await drawn();
    proxy.become(id, { status: 'IN_PROGRESS', progress: '40%', imageUrl: `${cdnUrl}/1.png` });
    await expect.poll(async () => (await fetched(id)).imageUrl).toMatch(/\?rand=\d+$/);
    expect((await fetch(String((await fetched(id)).imageUrl))).headers.get('cache-control')).toBe('no-store');
  });
});

describe('a proxy that does not say how a task is', () => {
  test('leaves it as it is', async () => {
    const id = await drawn();
    const undo = proxy.always('/mj/task/list-by-condition', html);
    expect((await fetched(id)).status).toBe('SUBMITTED');
    undo();
  });
});
