import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { receiptsOfAll } from '../../support/gateway/receipts.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { html, json, orderIn, silence, startVideoApi, type VideoApi } from '../../support/stand-ins/video-api.js';
import { until } from '../../support/until.js';

/* Videos over HTTP: ordered, followed, downloaded, deleted, remixed, and what they cost. */

const model = 'sora-2';
const granted = 5_000_000;
/** 0.1 USD of a second, 500,000 quota of a USD. */
const perSecond = 50_000;

let gateway: TestGateway;
let api: VideoApi;
let user: TestUser;
let key: string;
let client: OpenAI;

beforeAll(async () => {
  api = await startVideoApi();
  gateway = await startTestGateway();
  await gateway.addChannel({ type: 1, baseUrl: api.url, models: [model, 'unpriced-video'], key: 'sk-upstream' });
  await gateway.addChannel({ type: 24, baseUrl: api.url, models: ['veo-3.1-fast-generate-001'], key: 'g-key' });
});

afterAll(async () => {
  await gateway?.stop();
  await api?.stop();
});

beforeEach(async () => {
  user = await gateway.addUser(granted);
  key = await gateway.addApiKey(user);
  client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});

const headers = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

const post = async (path: string, body: unknown) => {
  const response = await fetch(`${gateway.url}${path}`, {
    ...{ method: 'POST', headers: headers(), body: JSON.stringify(body) },
  });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
};

const get = async (path: string, more: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${key}`, ...more } });

const lastOrder = () => {
  const order = api.received.findLast(({ method }) => method === 'POST');
  if (order === undefined) throw new Error('nothing was ordered');
  return order;
};

/** Upstream is asked at most every two seconds. */
const statusOf = async (id: string): Promise<string> => (await client.videos.retrieve(id)).status;
const isAt = (id: string, status: string) => until(async () => (await statusOf(id)) === status);

const spent = async (): Promise<number> => granted - (await gateway.available(user));

const begun = (): string => api.begun.at(-1) ?? '';

describe('a video in OpenAI’s words, by its own client', () => {
  test('is ordered, paid by its seconds, followed to its end, downloaded, listed and deleted', async () => {
    const made = await client.videos.create({ model, prompt: 'a cat', seconds: '8', size: '1280x720' });
    expect(made).toMatchObject({
      ...{ object: 'video', status: 'queued', progress: 0, model, prompt: 'a cat', seconds: '8', size: '1280x720' },
      ...{ error: null, completed_at: null, remixed_from_video_id: null },
    });
    expect(made.id).toMatch(/^video_/);
    expect(orderIn(lastOrder())).toEqual({ model, prompt: 'a cat', seconds: '8', size: '1280x720' });
    expect(lastOrder().headers.authorization).toBe('Bearer sk-upstream');
    expect(await spent()).toBe(8 * perSecond);

    await expect(client.videos.downloadContent(made.id)).rejects.toMatchObject({ status: 404 });
    api.script(begun(), { status: 'in_progress', progress: 40 }, { status: 'completed', progress: 100 });
    await isAt(made.id, 'completed');
    const file = await client.videos.downloadContent(made.id);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(api.file.bytes);
    expect(file.headers.get('content-type')).toBe('video/mp4');

    const listed = await client.videos.list({ limit: 10 });
    expect(listed.data.map(({ id, status }) => [id, status])).toEqual([[made.id, 'completed']]);

    expect(await client.videos.delete(made.id)).toEqual({ id: made.id, deleted: true, object: 'video.deleted' });
    await until(async () => api.received.some(({ method }) => method === 'DELETE'));
    await expect(client.videos.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    expect((await client.videos.list()).data).toEqual([]);
    expect(await spent()).toBe(8 * perSecond);
  });

  test('takes a picture along as a file', async () => {
    const picture = await toFile(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'cat.png', { type: 'image/png' });
    await client.videos.create({ model, prompt: 'it moves', input_reference: picture });
    expect(orderIn(lastOrder())).toMatchObject({ seconds: '4', input_reference: { file: 'cat.png' } });
    expect(await spent()).toBe(4 * perSecond);
  });

  test('is remixed where it was made, and costs what it did', async () => {
    const made = await client.videos.create({ model, prompt: 'a cat', seconds: '12' });
    const source = begun();
    await expect(client.videos.remix(made.id, { prompt: 'a dog' })).rejects.toMatchObject({ status: 400 });
    api.script(source, { status: 'completed' });
    await isAt(made.id, 'completed');
    const remix = await client.videos.remix(made.id, { prompt: 'a dog' });
    expect(remix).toMatchObject({ remixed_from_video_id: made.id, seconds: '12', prompt: 'a dog', status: 'queued' });
    expect(lastOrder().url).toBe(`/v1/videos/${source}/remix`);
    expect(await spent()).toBe(24 * perSecond);
  });

  test('that fails is given back, once, with the reason', async () => {
    const made = await client.videos.create({ model, prompt: 'a cat' });
    expect(await spent()).toBe(4 * perSecond);
    api.script(begun(), { status: 'failed', error: { code: 'moderation_blocked', message: 'no cats' } });
    await isAt(made.id, 'failed');
    expect((await client.videos.retrieve(made.id)).error).toEqual({ code: 'moderation_blocked', message: 'no cats' });
    await until(async () => (await spent()) === 0);
    api.script(begun(), { status: 'completed' });
    expect(await statusOf(made.id)).toBe('failed');
    expect(await spent()).toBe(0);
  });

  test('is its owner’s alone: to others it is as one that never was', async () => {
    const made = await client.videos.create({ model, prompt: 'a cat' });
    api.script(begun(), { status: 'completed' });
    await isAt(made.id, 'completed');
    const owner = key;
    user = await gateway.addUser(granted);
    key = await gateway.addApiKey(user);
    const answers = async (id: string) =>
      Promise.all([
        get(`/v1/videos/${id}`),
        get(`/v1/videos/${id}/content`),
        get(`/v1/video/generations/${id}`),
        fetch(`${gateway.url}/v1/videos/${id}`, { method: 'DELETE', headers: headers() }),
        fetch(`${gateway.url}/v1/videos/${id}/remix`, {
          ...{ method: 'POST', headers: headers(), body: JSON.stringify({ prompt: 'mine now' }) },
        }),
      ]).then((all) => Promise.all(all.map(async (one) => [one.status, await one.text()])));
    const unknown = (text: unknown) => String(text).replace(/video_[\w-]+|\(request id: [^)]*\)/g, '');
    const strange = await answers(made.id);
    const never = await answers('video_20260101000000000neverThere1');
    expect(strange.map(([status]) => status)).toEqual([404, 404, 404, 404, 404]);
    expect(strange.map(([, text]) => unknown(text))).toEqual(never.map(([, text]) => unknown(text)));
    expect(await (await get('/v1/videos')).json()).toMatchObject({ data: [] });
    key = owner;
  });

  test('is listed page by page, newest first or oldest first', async () => {
    const ids: string[] = [];
    for (const prompt of ['one', 'two', 'three']) ids.push((await client.videos.create({ model, prompt })).id);
    const all: string[] = [];
    for await (const video of client.videos.list({ limit: 2 })) all.push(video.id);
    expect(all).toEqual([...ids].reverse());
    const first = await client.videos.list({ limit: 1, order: 'asc' });
    expect([first.data[0]?.id, first.has_more]).toEqual([ids[0], true]);
    expect((await get('/v1/videos?limit=0')).status).toBe(400);
    expect((await get('/v1/videos?after=video_unknown')).status).toBe(404);
  });
});

describe('an order of a video', () => {
  test('of a model without a price is refused by its name, and nothing is ordered', async () => {
    const before = api.begun.length;
    const { status, body } = await post('/v1/videos', { model: 'unpriced-video', prompt: 'a cat' });
    expect([status, body.error]).toMatchObject([400, { code: 'model_price_error' }]);
    expect(JSON.stringify(body)).toContain('unpriced-video');
    expect(api.begun.length).toBe(before);
  });

  test('at a resolution without a price is refused, for users who accept unpriced models too', async () => {
    const { status, body } = await post('/v1/videos', { model, prompt: 'a cat', size: '1920x1080' });
    expect([status, body.error]).toMatchObject([400, { code: 'model_price_error' }]);
    expect(JSON.stringify(body)).toContain('video:1080p');
  });

  test('that upstream refuses costs nothing', async () => {
    const restore = api.instead('POST /v1/videos', (response) =>
      json(response, 400, {
        error: { message: 'seconds must be 4, 8 or 12', type: 'invalid_request_error', code: 'bad' },
      }),
    );
    const { status, body } = await post('/v1/videos', { model, prompt: 'a cat', seconds: 7 });
    restore();
    expect([status, body.error]).toMatchObject([400, { code: 'bad' }]);
    await until(async () => (await spent()) === 0);
  });

  test('that is answered with a page costs its caller nothing', async () => {
    const restore = api.instead('POST /v1/videos', html());
    const { status } = await post('/v1/videos', { model, prompt: 'a cat' });
    restore();
    expect(status).toBe(502);
    await until(async () => (await spent()) === 0);
  });

  test('beyond what its caller has is refused', async () => {
    user = await gateway.addUser(3 * perSecond);
    key = await gateway.addApiKey(user);
    const { status } = await post('/v1/videos', { model, prompt: 'a cat', seconds: 4 });
    expect(status).toBe(403);
  });

  test('with a word of the operator’s list is refused', async () => {
    await gateway.setOption('SensitiveWords', 'forbiddencat');
    const { status, body } = await post('/v1/videos', { model, prompt: 'a forbiddencat' });
    expect([status, body.error]).toMatchObject([400, { code: 'sensitive_words_detected' }]);
    await gateway.setOption('SensitiveWords', '');
  });
});

describe('a video in the words of the one-api family', () => {
  test('is ordered from a long-running operation, counted by seconds and size, and fetched', async () => {
    const before = api.begun.length;
    const ordered = await post('/v1/video/generations', {
      ...{ model: 'veo-3.1-fast-generate-001', prompt: 'a cat', duration: 6, width: 1920, height: 1080 },
      ...{ metadata: { negative_prompt: 'dogs' } },
    });
    expect(ordered).toMatchObject({ status: 200, body: { status: 'in_progress' } });
    const id = String(ordered.body.task_id);
    expect(id).toMatch(/^video_/);
    expect(api.begun.length).toBe(before + 1);
    expect(JSON.parse(lastOrder().body.toString())).toEqual({
      instances: [{ prompt: 'a cat' }],
      parameters: {
        ...{ sampleCount: 1, durationSeconds: 6, aspectRatio: '16:9', resolution: '1080p', negativePrompt: 'dogs' },
      },
    });
    expect(lastOrder().headers['x-goog-api-key']).toBe('g-key');
    // 0.12 USD of a second.
    expect(await spent()).toBe(6 * 60_000);

    const samples = ['a', 'b'].map((name) => ({
      video: { uri: `${api.url}/v1beta/files/${name}:download?alt=media` },
    }));
    api.script(begun(), { done: true, response: { generateVideoResponse: { generatedSamples: samples } } });
    const fetched = async () => (await (await get(`/v1/video/generations/${id}`)).json()) as Record<string, unknown>;
    await until(async () => (await fetched()).status === 'completed');
    expect(await fetched()).toEqual({
      ...{ task_id: id, status: 'completed', format: 'mp4', metadata: { duration: 6, width: 1920, height: 1080 } },
      url: expect.stringMatching(new RegExp(`/v1/videos/${id}/content$`)),
    });
    const second = await get(`/v1/videos/${id}/content?index=1`);
    expect(Buffer.from(await second.arrayBuffer())).toEqual(api.file.bytes);
    expect(api.received.at(-1)).toMatchObject({
      url: '/v1beta/files/b:download?alt=media',
      headers: { 'x-goog-api-key': 'g-key' },
    });
    expect((await get(`/v1/videos/${id}/content?index=2`)).status).toBe(404);
    expect((await get(`/v1/videos/${id}/content?variant=thumbnail`)).status).toBe(404);
    expect((await get(`/v1/videos/${id}/content?variant=poster`)).status).toBe(400);
  });

  test('is refused by its name where several are wanted in one order, and nothing is ordered or charged', async () => {
    const before = api.begun.length;
    const order = { model: 'veo-3.1-fast-generate-001', prompt: 'a cat', n: 2 };
    const { status, body } = await post('/v1/video/generations', order);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('n: this upstream makes one video')]);
    expect(api.begun.length).toBe(before);
    await until(async () => (await spent()) === 0);
  });

  test('that is said to be made, without a file, is given back', async () => {
    const ordered = await post('/v1/video/generations', { model: 'veo-3.1-fast-generate-001', prompt: 'a cat' });
    const id = String(ordered.body.task_id);
    api.script(begun(), { done: true, response: { generateVideoResponse: { generatedSamples: [{ video: {} }] } } });
    await isAt(id, 'failed');
    await until(async () => (await spent()) === 0);
  });

  test('that is withheld is given back', async () => {
    const ordered = await post('/v1/video/generations', { model: 'veo-3.1-fast-generate-001', prompt: 'a cat' });
    const id = String(ordered.body.task_id);
    const refusal = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['no cats'] };
    api.script(begun(), { done: true, response: { generateVideoResponse: refusal } });
    const fetched = async () => (await (await get(`/v1/video/generations/${id}`)).json()) as Record<string, unknown>;
    await until(async () => (await fetched()).status === 'failed');
    expect(await fetched()).toMatchObject({ error: { code: 400, message: 'no cats' } });
    await until(async () => (await spent()) === 0);
  });
});

test.each([
  ['POST', '/v1/videos/edits', 'POST /v1/videos/{id}/remix'],
  ['POST', '/v1/videos/extensions', 'POST /v1/videos/{id}/remix'],
  ['POST', '/v1/videos/characters', 'characters of videos are not served'],
  ['GET', '/v1/videos/characters/char_1', 'characters of videos are not served'],
])('%s %s is refused with what is served in its place', async (method, path, message) => {
  const response = await fetch(`${gateway.url}${path}`, { method, headers: headers() });
  expect([response.status, await response.json()]).toMatchObject([
    501,
    { error: { code: 'api_not_implemented', message: expect.stringContaining(message) } },
  ]);
});

describe('the file of a video', () => {
  let id: string;
  beforeEach(async () => {
    id = (await client.videos.create({ model, prompt: 'a cat' })).id;
    api.script(begun(), { status: 'completed' });
    await isAt(id, 'completed');
  });

  test('is sent in the requested range', async () => {
    const part = await get(`/v1/videos/${id}/content`, { range: 'bytes=2-5' });
    expect([part.status, await part.text()]).toEqual([206, api.file.bytes.subarray(2, 6).toString()]);
    expect(part.headers.get('content-range')).toBe(`bytes 2-5/${api.file.bytes.length}`);
  });

  test('is looked for at another address, where upstream leads there, without the key', async () => {
    const other = await startVideoApi();
    const moved = api.instead(
      'GET /v1/videos/',
      (response) => void response.writeHead(302, { location: `${other.url}/v1beta/files/moved` }).end(),
    );
    const file = await get(`/v1/videos/${id}/content`);
    expect(await file.text()).toBe(other.file.bytes.toString());
    expect(other.received.at(-1)?.headers.authorization).toBeUndefined();
    moved();
    await other.stop();
  });

  test('at an address in a network of ours is not fetched, wherever upstream leads', async () => {
    const restore = api.instead(
      'GET /v1/videos/',
      (response) => void response.writeHead(302, { location: 'http://10.11.12.13/v.mp4' }).end(),
    );
    const file = await get(`/v1/videos/${id}/content`);
    restore();
    expect([file.status, await file.text()]).toEqual([500, expect.stringContaining('do_request_failed')]);

    const { body } = await post('/v1/videos', { model: 'veo-3.1-fast-generate-001', prompt: 'a cat' });
    const video = { uri: 'http://10.11.12.13/v.mp4' };
    api.script(begun(), { done: true, response: { generateVideoResponse: { generatedSamples: [{ video }] } } });
    await isAt(String(body.id), 'completed');
    const named = await get(`/v1/videos/${String(body.id)}/content`);
    expect([named.status, await named.text()]).toEqual([500, expect.stringContaining('do_request_failed')]);
  });

  test.each([
    ['a page', html()],
    ['a page that says there is none', html(404)],
    [
      'a file of 5 GB',
      (response) => void response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 5e9 }).flushHeaders(),
    ],
    [
      'an endless chain of redirects',
      (response) => void response.writeHead(302, { location: '/v1/videos/again' }).end(),
    ],
    ['a script', (response) => void response.writeHead(200, { 'content-type': 'text/javascript' }).end('alert(1)')],
  ] satisfies [string, Parameters<VideoApi['instead']>[1]][])(
    'is refused where upstream answers %s',
    async (_name, answer) => {
      const restore = api.instead('GET /v1/videos/', answer);
      const file = await get(`/v1/videos/${id}/content`);
      restore();
      expect([404, 502]).toContain(file.status);
      expect(await file.text()).not.toContain('<html>');
    },
  );

  test('is refused as a thumbnail that is a document', async () => {
    const restore = api.instead(
      'GET /v1/videos/',
      (response) => void response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg/>'),
    );
    const file = await get(`/v1/videos/${id}/content?variant=thumbnail`);
    restore();
    expect(file.status).toBe(502);
  });

  test('that ends too early is seen to be cut', async () => {
    const restore = api.instead('GET /v1/videos/', (response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    const file = await get(`/v1/videos/${id}/content`);
    await expect(file.arrayBuffer()).rejects.toThrow();
    restore();
  });

  test('is not waited for any longer than its caller does', async () => {
    const restore = api.instead('GET /v1/videos/', silence);
    const leaving = new AbortController();
    const asked = fetch(`${gateway.url}/v1/videos/${id}/content`, {
      ...{ headers: { authorization: `Bearer ${key}` }, signal: leaving.signal },
    }).catch(() => 'left');
    await until(async () => api.received.at(-1)?.url.endsWith('/content') === true);
    leaving.abort();
    expect(await asked).toBe('left');
    restore();
  });
});

test('each order of a video has a receipt that gives its charge, and what was given back', async () => {
  const { served, refunded, wrong } = await receiptsOfAll(gateway);
  expect(served).toBeGreaterThan(3);
  expect(refunded).toBeGreaterThan(1);
  expect(wrong).toEqual([]);
});
