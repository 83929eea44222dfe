import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { receiptsOfAll } from '../../support/gateway/receipts.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { html, json, type MidjourneyProxy, startMidjourneyProxy } from '../../support/stand-ins/midjourney-proxy.js';

/* Drawings by a Midjourney proxy: taken, charged, looked at, gone on from. */

const imagine = 50_000;

let gateway: TestGateway;
let callers: Callers;
let proxy: MidjourneyProxy;
let channel: ChannelId;
let user: TestUser;
let apiKey: string;
let owner: Caller;
let stranger: Caller;

const post = async (path: string, body: JsonObject, caller = owner) => {
  const { status, text } = await caller.send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return { status, body: JSON.parse(text) as JsonObject };
};
const get = async (path: string, caller = owner) => {
  const { status, text } = await caller.send(path, { method: 'GET' });
  return { status, body: JSON.parse(text) as JsonObject };
};
const drawn = async (prompt = 'a cat'): Promise<string> =>
  String((await post('/mj/submit/imagine', { prompt })).body.result);
const finished = async (members: JsonObject = {}): Promise<string> => {
  const id = await drawn();
  proxy.become(id, { status: 'SUCCESS', progress: '100%', imageUrl: `${proxy.url}/pictures/1.png`, ...members });
  expect((await get(`/mj/task/${id}/fetch`)).body.status).toBe('SUCCESS');
  return id;
};

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  proxy = await startMidjourneyProxy();
  const models = ['imagine', 'upscale', 'variation', 'reroll', 'blend', 'describe', 'upload', 'modal', 'shorten'];
  channel = await gateway.addChannel({
    ...{ type: 5, baseUrl: proxy.url, key: 'proxy-secret-1' },
    models: [...models, 'inpaint', 'zoom', 'custom_zoom', 'pan', 'video', 'edits']
      .map((name) => `mj_${name}`)
      .concat('swap_face'),
  });
  user = await gateway.addUser(1_000_000_000);
  apiKey = await gateway.addApiKey(user);
  owner = callers.with(apiKey);
  stranger = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000_000)));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await proxy?.stop();
});
beforeEach(() => {
  proxy.received.length = 0;
});

/** The proxy is asked about open tasks as well, whenever that is due. */
const submitted = () => proxy.received.filter(({ url }) => url.includes('/submit/'));

describe('a submission', () => {
  test('is answered as the proxy does, charged at the price of its action, and then readable', async () => {
    const before = await gateway.available(user);
    const { status, body } = await post('/mj/submit/imagine', {
      prompt: 'a cat',
      state: 'mine',
      botType: 'MID_JOURNEY',
    });
    expect(status).toBe(200);
    expect(body).toEqual({ code: 1, description: 'Submit success', properties: {}, result: proxy.last.id });
    const { request } = proxy.last;
    expect(request.url).toBe('/mj/submit/imagine');
    expect(request.headers['mj-api-secret']).toBe('proxy-secret-1');
    expect(request.body).toEqual({ prompt: 'a cat', state: 'mine', botType: 'MID_JOURNEY' });
    expect(before - (await gateway.available(user))).toBe(imagine);
    const task = await get(`/mj/task/${body.result}/fetch`);
    expect(task.status).toBe(200);
    expect(task.body).toEqual({
      ...{ id: body.result, action: 'IMAGINE', customId: '', botType: '', prompt: 'a cat', promptEn: '' },
      ...{ description: 'Submit success', state: 'mine', submitTime: expect.any(Number), startTime: 0, finishTime: 0 },
      ...{ imageUrl: '', status: 'SUBMITTED', progress: '0%', failReason: '', buttons: [], maskBase64: '' },
      properties: { finalPrompt: '', finalZhPrompt: '' },
    });
  });

  test.each([
    [21, 1],
    [22, 1],
  ])('with code %i is charged, and shown as %i', async (code, shown) => {
    const before = await gateway.available(user);
    proxy.next('/mj/submit/imagine', json(200, { code, description: 'exists', result: `7000${code}`, properties: {} }));
    expect((await post('/mj/submit/imagine', { prompt: 'a cat' })).body).toMatchObject({
      code: shown,
      result: `7000${code}`,
    });
    expect(before - (await gateway.available(user))).toBe(imagine);
  });

  test.each([
    [4, 200],
    [5, 200],
    [23, 200],
    [24, 200],
    [30, 429],
  ])(
    'that the proxy refuses with code %i is answered by that with status %i, and not charged',
    async (code, expected) => {
      const before = await gateway.available(user);
      const refusal = { code, description: 'no', result: '', properties: { promptEn: 'a cat', bannedWord: 'cat' } };
      proxy.next('/mj/submit/imagine', json(200, refusal));
      const { status, body } = await post('/mj/submit/imagine', { prompt: 'a cat' });
      expect(status).toBe(expected);
      expect(body).toEqual(refusal);
      expect(await gateway.available(user)).toBe(before);
      expect(submitted()).toHaveLength(1);
    },
  );

  test('that is answered with a page instead of JSON is not charged, and not repeated', async () => {
    const before = await gateway.available(user);
    proxy.next('/mj/submit/imagine', html);
    const { status, body } = await post('/mj/submit/imagine', { prompt: 'a cat' });
    expect(status).toBe(502);
    expect(body).toMatchObject({ code: 5, type: 'upstream_error' });
    expect(await gateway.available(user)).toBe(before);
    expect(submitted()).toHaveLength(1);
  });

  test('without what it needs is refused by the word that clients know, and not sent', async () => {
    const { status, body } = await post('/mj/submit/imagine', {});
    expect(status).toBe(400);
    expect(body).toEqual({ description: 'prompt_is_required ', type: 'upstream_error', code: 4 });
    expect((await post('/mj/submit/change', { taskId: '1' })).body.description).toBe('action_is_required ');
    expect((await post('/mj/submit/imagine', { prompt: 'a', TaskId: '1' })).body.description).toContain('TaskId');
    expect(submitted()).toHaveLength(0);
  });

  test('of who cannot pay is refused with quota_not_enough', async () => {
    const poor = callers.with(await gateway.addApiKey(await gateway.addUser(imagine - 1)));
    const { status, body } = await post('/mj/submit/imagine', { prompt: 'a cat' }, poor);
    expect(status).toBe(400);
    expect(body).toEqual({ description: 'quota_not_enough ', type: 'upstream_error', code: 4 });
    expect(submitted()).toHaveLength(0);
  });

  test('shows its key in the header of the proxy, and is refused in its words without one', async () => {
    const headers = { 'mj-api-secret': apiKey, 'content-type': 'application/json' };
    const answer = await fetch(`${gateway.url}/mj/submit/imagine`, { method: 'POST', headers, body: '{"prompt":"a"}' });
    expect(answer.status).toBe(200);
    const without = await fetch(`${gateway.url}/mj/submit/imagine`, { method: 'POST', body: '{"prompt":"a"}' });
    expect(without.status).toBe(401);
    expect(await without.json()).toMatchObject({ code: 4, description: expect.stringContaining('request id') });
  });
});

describe('a speed before the path', () => {
  test.each(['/mj-fast', '/mj-relax', '/mj-turbo', '/fast'])('of %s goes upstream', async (prefix) => {
    await post(`${prefix}/mj/submit/imagine`, { prompt: 'a cat' });
    expect(proxy.last.request.url).toBe(`/mj-${prefix.replace(/^\/(mj-)?/, '')}/mj/submit/imagine`);
  });

  test('that is unknown is refused by name, and the legacy interface is left alone', async () => {
    const { status, body } = await post('/mj-warp/mj/submit/imagine', { prompt: 'a cat' });
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: 4, description: expect.stringContaining('mj-fast, mj-relax, mj-turbo') });
    const legacy = await fetch(`${gateway.url}/api/mj/self`);
    expect(await legacy.text()).not.toContain('mj-turbo');
  });
});

describe('a follow-up of a drawing', () => {
  test('is refused before the drawing has succeeded, where the option says so', async () => {
    const id = await drawn();
    const { body } = await post('/mj/submit/change', { taskId: id, action: 'UPSCALE', index: 1 });
    expect(body.description).toBe('task_status_not_success ');
    await gateway.setOption('MjActionCheckSuccessEnabled', 'false');
    expect((await post('/mj/submit/change', { taskId: id, action: 'UPSCALE', index: 1 })).body.code).toBe(1);
    await gateway.setOption('MjActionCheckSuccessEnabled', 'true');
  });

  test.each([
    ['/mj/submit/change', (id: string) => ({ taskId: id, action: 'UPSCALE', index: 2 }), 25_000],
    ['/mj/submit/simple-change', (id: string) => ({ content: `${id} V2` }), 50_000],
    ['/mj/submit/action', (id: string) => ({ taskId: id, customId: 'MJ::JOB::reroll::0::u::SOLO' }), 50_000],
    ['/mj/submit/action', (id: string) => ({ taskId: id, customId: 'MJ::Inpaint::1::u::SOLO' }), 0],
    ['/mj/submit/action', (id: string) => ({ taskId: id, customId: 'MJ::CustomZoom::u' }), 0],
    ['/mj/submit/modal', (id: string) => ({ taskId: id, prompt: 'a hat', maskBase64: 'AAAA' }), 50_000],
  ])('at %s is sent unchanged and charged by its action', async (path, bodyOf, price) => {
    const id = await finished();
    const before = await gateway.available(user);
    const { body } = await post(path, bodyOf(id));
    expect(body.code).toBe(1);
    expect(proxy.last.request.url).toBe(path);
    expect(proxy.last.request.body).toEqual(bodyOf(id));
    expect(before - (await gateway.available(user))).toBe(price);
  });

  test('opens a dialog, whose code 21 is kept, and the dialog closes before its drawing has ended', async () => {
    const id = await finished();
    proxy.next(
      '/mj/submit/action',
      json(200, { code: 21, description: 'open', result: '800021', properties: { status: 'MODAL' } }),
    );
    const opened = await post('/mj/submit/action', { taskId: id, customId: 'MJ::Inpaint::1::u::SOLO' });
    expect(opened.body).toMatchObject({ code: 21, result: '800021' });
    proxy.tasks.set('800021', { id: '800021', status: 'MODAL', progress: '0%' });
    expect((await get('/mj/task/800021/fetch')).body.status).toBe('MODAL');
    expect((await post('/mj/submit/modal', { taskId: '800021', prompt: 'a hat' })).body.code).toBe(1);
  });

  test('of another user is not found, in the same words as an unknown one', async () => {
    const id = await finished();
    const bodies = await Promise.all([
      post('/mj/submit/change', { taskId: id, action: 'REROLL' }, stranger),
      post('/mj/submit/change', { taskId: '1', action: 'REROLL' }, stranger),
    ]);
    for (const { status, body } of bodies) {
      expect(status).toBe(400);
      expect(body).toEqual({ description: 'task_not_found ', type: 'upstream_error', code: 4 });
    }
  });
});

describe('a task', () => {
  test('is its user’s alone, at every place', async () => {
    const id = await finished();
    expect((await get(`/mj/task/${id}/fetch`, stranger)).body).toEqual({
      ...{ description: 'task_no_found ', type: 'upstream_error', code: 4 },
    });
    expect((await post('/mj/task/list-by-condition', { ids: [id] }, stranger)).body).toEqual([]);
    expect((await get(`/mj/task/${id}/image-seed`, stranger)).body.description).toBe('task_not_found ');
  });

  test('is listed with others by their ids, as far as they are the caller’s', async () => {
    const [one, two] = [await drawn('one'), await finished()];
    const { body } = await post('/mj/task/list-by-condition', { ids: [two, 'nobody', one] });
    expect((body as unknown as JsonObject[]).map(({ id, status }) => [id, status])).toEqual([
      [two, 'SUCCESS'],
      [one, 'SUBMITTED'],
    ]);
    expect((await post('/mj/task/list-by-condition', {})).body).toEqual([]);
    const many = await post('/mj/task/list-by-condition', { ids: Array(101).fill('1') });
    expect(many.body.description).toContain('at most 100');
  });

  test('has the seed that its proxy says', async () => {
    const id = await finished();
    expect((await get(`/mj/task/${id}/image-seed`)).body).toMatchObject({ code: 1, result: '3407834961' });
    const asked = proxy.received.findLast(({ url }) => url.endsWith('/image-seed'));
    expect(asked).toMatchObject({ method: 'GET', url: `/mj/task/${id}/image-seed` });
    expect(asked?.headers['mj-api-secret']).toBe('proxy-secret-1');
  });

  test('that fails is refunded once, however often that is reported', async () => {
    const before = await gateway.available(user);
    const id = await drawn();
    proxy.become(id, { status: 'FAILURE', progress: '100%', failReason: 'banned' });
    const { body } = await get(`/mj/task/${id}/fetch`);
    expect(body).toMatchObject({ status: 'FAILURE', progress: '100%', failReason: 'banned' });
    await expect.poll(() => gateway.available(user)).toBe(before);
    await get(`/mj/task/${id}/fetch`);
    expect(await gateway.available(user)).toBe(before);
  });
});

describe('uploaded pictures', () => {
  test('are answered with their addresses, and the task is at its end', async () => {
    const before = await gateway.available(user);
    const { body } = await post('/mj/submit/upload-discord-images', { base64Array: ['AAAA'] });
    expect(body).toEqual({ code: 1, description: 'success', result: ['https://cdn.example/up.png'] });
    expect(before - (await gateway.available(user))).toBe(25_000);
  });
});

describe('a swapped face', () => {
  test('that is queued is not charged, one that is submitted is', async () => {
    const before = await gateway.available(user);
    const body = { sourceBase64: 'AAAA', targetBase64: 'BBBB' };
    proxy.next('/mj/insight-face/swap', json(200, { code: 22, description: 'queued', result: '9', properties: {} }));
    expect((await post('/mj/insight-face/swap', body)).body.code).toBe(22);
    expect(await gateway.available(user)).toBe(before);
    expect((await post('/mj/insight-face/swap', body)).body.code).toBe(1);
    expect(before - (await gateway.available(user))).toBe(25_000);
  });
});

describe('the operator', () => {
  test('decides whether callers choose accounts, hooks and speeds', async () => {
    const accountFilter = { modes: ['FAST'] };
    const body = { prompt: 'a cat --ar 1:1 --fast', accountFilter, notifyHook: 'https://caller.example/hook' };
    await post('/mj/submit/imagine', body);
    expect(proxy.last.request.body).toEqual({ prompt: 'a cat --ar 1:1 --fast' });
    await gateway.setOption('MjAccountFilterEnabled', 'true');
    await gateway.setOption('MjNotifyEnabled', 'true');
    await gateway.setOption('MjModeClearEnabled', 'true');
    await post('/mj/submit/imagine', body);
    expect(proxy.last.request.body).toEqual({ ...body, prompt: 'a cat --ar 1:1' });
    await post('/mj-turbo/mj/submit/imagine', { ...body, prompt: 'a cat —fast' });
    expect(proxy.last.request).toMatchObject({ url: '/mj/submit/imagine', body: { prompt: 'a cat' } });
    for (const option of ['MjAccountFilterEnabled', 'MjNotifyEnabled', 'MjModeClearEnabled'])
      await gateway.setOption(option, 'false');
  });

  test('has forbidden words searched in prompts', async () => {
    const { status, body } = await post('/mj/submit/imagine', { prompt: 'a test_sensitive cat' });
    expect(status).toBe(400);
    expect(body.description).toContain('sensitive words');
    expect(submitted()).toHaveLength(0);
  });
});

describe('a plain proxy', () => {
  let plain: MidjourneyProxy;
  let caller: Caller;
  beforeAll(async () => {
    plain = await startMidjourneyProxy();
    await gateway.addChannel({
      ...{
        type: 2,
        baseUrl: plain.url,
        groups: ['vip'],
        models: ['mj_imagine', 'mj_zoom', 'mj_shorten', 'mj_uploads'],
      },
    });
    caller = callers.with(await gateway.addApiKey(user, { group: 'vip' }));
  });
  afterAll(() => plain?.stop());

  test('gets no speed before the path', async () => {
    await post('/mj-fast/mj/submit/imagine', { prompt: 'a cat' }, caller);
    expect(plain.last.request.url).toBe('/mj/submit/imagine');
  });

  test('gets no action that it lacks, though its channel lists it', async () => {
    const { status, body } = await post('/mj/submit/shorten', { prompt: 'a cat' }, caller);
    expect(status).toBe(400);
    expect(body.description).toContain('mj_shorten');
  });

  test('takes uploads by the other name of their model', async () => {
    const { body } = await post('/mj/submit/upload-discord-images', { base64Array: ['AAAA'] }, caller);
    expect(body.code).toBe(1);
  });
});

describe('a proxy without an account', () => {
  test('has its channel switched off where the options say so, and its refusal is passed on', async () => {
    const empty = await startMidjourneyProxy();
    await gateway.setOption('UserUsableGroups', '{"default":"d","vip":"v","svip":"s"}');
    const id = await gateway.addChannel({ type: 5, baseUrl: empty.url, groups: ['svip'], models: ['mj_imagine'] });
    const caller = callers.with(await gateway.addApiKey(user, { group: 'svip' }));
    const refusal = { code: 3, description: 'no account available', properties: {}, result: '' };
    empty.always('/mj/submit/imagine', json(200, refusal));
    expect((await post('/mj/submit/imagine', { prompt: 'a cat' }, caller)).body).toEqual(refusal);
    expect((await post('/mj/submit/imagine', { prompt: 'a cat' }, caller)).body).toEqual(refusal);
    await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
    await post('/mj/submit/imagine', { prompt: 'a cat' }, caller);
    await expect.poll(async () => (await post('/mj/submit/imagine', { prompt: 'a cat' }, caller)).status).toBe(503);
    await gateway.setOption('AutomaticDisableChannelEnabled', 'false');
    expect(id).not.toBe(channel);
    await empty.stop();
  });
});

test('each of these calls has a receipt that gives its charge', async () => {
  const { served, refunded, wrong } = await receiptsOfAll(gateway);
  expect(served).toBeGreaterThan(3);
  expect(refunded).toBeGreaterThan(0);
  expect(wrong).toEqual([]);
});
