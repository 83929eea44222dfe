import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Data, GraphqlClient } from '../../graphql/graphql-server.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startVideoApi, type VideoApi } from '../../support/stand-ins/video-api.js';
import { until } from '../../support/until.js';
import {
  json,
  serviceAccountDocument,
  startVertexUpstream,
  type VertexUpstream,
} from '../../support/upstreams/vertex-upstream.js';

/* Videos at signed addresses, by which the console plays them: a page sends no key. */

const model = 'sora-2';
const veo = 'veo-3.1-fast-generate-001';

let gateway: TestGateway;
let api: VideoApi;
let vertex: VertexUpstream;
let user: TestUser;
let key: string;
let console: GraphqlClient;

beforeAll(async () => {
  [gateway, api, vertex] = await Promise.all([startTestGateway(), startVideoApi(), startVertexUpstream()]);
  await gateway.addChannel({ type: 1, baseUrl: api.url, models: [model], key: 'sk-upstream' });
  await gateway.addChannel({
    ...{ type: 41, models: [veo], baseUrl: vertex.url, key: serviceAccountDocument(vertex.tokenUri) },
    other: JSON.stringify({ default: 'us-central1' }),
  });
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all([api?.stop(), vertex?.stop()]);
});

beforeEach(async () => {
  user = await gateway.addUser(50_000_000);
  key = await gateway.addApiKey(user);
  console = await new GraphqlClient(gateway.url).signIn(user.username, user.password);
});

const authorization = () => ({ authorization: `Bearer ${key}` });

async function order(named: string): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/videos`, {
    ...{ method: 'POST', headers: { ...authorization(), 'content-type': 'application/json' } },
    body: JSON.stringify({ model: named, prompt: 'a cat' }),
  });
  return String(((await response.json()) as Data).id);
}

const isReady = (id: string) =>
  until(async () => {
    const response = await fetch(`${gateway.url}/v1/videos/${id}`, { headers: authorization() });
    return ((await response.json()) as Data).status === 'completed';
  });

/** What the console shows of it, as soon as it is in the list. */
const shown = (id: string): Promise<Data> =>
  until(async () => {
    const { tasks } = await console.ask(
      'query ($id: String!) { tasks(first: 1, filter: { publicId: $id }) { edges { node { status media { kind url } } } } }',
      { id },
    );
    return tasks.edges[0]?.node ?? null;
  });

const addressOf = (id: string): Promise<string> =>
  until(async () => {
    const { status, media } = await shown(id);
    return status === 'SUCCEEDED' ? (media[0].url as string) : null;
  });

const play = (path: string, headers: Record<string, string> = {}) => fetch(gateway.url + path, { headers });

describe('the video of a task in the console', () => {
  let id: string;
  beforeEach(async () => {
    id = await order(model);
  });
  const made = async (): Promise<string> => {
    api.script(api.begun.at(-1) ?? '', { status: 'completed' });
    await isReady(id);
    return addressOf(id);
  };

  test('has no address before it is ready, and one of this gateway afterwards', async () => {
    expect((await shown(id)).media).toEqual([]);
    const path = await made();
    expect((await shown(id)).media).toEqual([{ kind: 'VIDEO', url: path }]);
    expect(path).toMatch(/^\/v1\/videos\/files\/\d+\.[\w-]{22}$/);
  });

  test('is played without a key, whole or by range, and no page can take it for a document', async () => {
    const path = await made();
    const whole = await play(path);
    expect([whole.status, Buffer.from(await whole.arrayBuffer())]).toEqual([200, api.file.bytes]);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      ...{ 'content-type': 'video/mp4', 'accept-ranges': 'bytes', 'x-content-type-options': 'nosniff' },
      'content-security-policy': "default-src 'none'; media-src 'self'",
    });
    const part = await play(path, { range: 'bytes=2-5' });
    expect([part.status, await part.text()]).toEqual([206, api.file.bytes.subarray(2, 6).toString()]);
    expect(api.received.at(-1)?.headers.authorization).toBe('Bearer sk-upstream');
  });

  test('is not found at an address that was changed, nor after it was deleted', async () => {
    const path = await made();
    const last = path.at(-1) === 'A' ? 'B' : 'A';
    for (const forged of [path.slice(0, -1) + last, path.replace(/\d+\./, '1.'), '/v1/videos/files/1', `${path}x`])
      expect((await play(forged)).status).toBe(404);
    expect((await play(`${path}?index=1`)).status).toBe(404);
    expect((await play(`${path}?variant=poster`)).status).toBe(400);
    await fetch(`${gateway.url}/v1/videos/${id}`, { method: 'DELETE', headers: authorization() });
    expect((await play(path)).status).toBe(404);
  });

  test('is sent to twelve requests at a time, and a place is free again when one of them leaves', async () => {
    const path = await made();
    const before = api.received.length;
    const restore = api.instead('GET /v1/videos/', (response) =>
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 100 }).write('half'),
    );
    const leaving = new AbortController();
    const playing = Array.from({ length: 12 }, () => fetch(gateway.url + path, { signal: leaving.signal }));
    await Promise.all(playing);
    expect((await play(path)).status).toBe(429);
    expect(api.received.length - before).toBe(12);
    leaving.abort();
    restore();
    await until(async () => (await play(path)).status === 200);
  });
});

describe('a video that is part of its operation’s answer', () => {
  const bytes = Buffer.from('a film of a cat, in ten parts');
  let fetched = 0;
  let releases: (() => void)[] = [];
  let isHeld = false;

  beforeEach(() => {
    fetched = 0;
    vertex.respondWith(({ url, body }, response) => {
      const name = 'projects/proj-test-1/locations/us-central1/publishers/google/models/veo/operations/op1';
      if (url.endsWith(':predictLongRunning')) return json(response, 200, { name });
      fetched += 1;
      const videos = [{ bytesBase64Encoded: bytes.toString('base64'), mimeType: 'video/mp4' }];
      const answer = () =>
        json(response, 200, { name: JSON.parse(body).operationName, done: true, response: { videos } });
      if (isHeld) releases.push(answer);
      else answer();
    });
  });

  test('is fetched once for all its ranges and all who play it at the same time', async () => {
    const id = await order(veo);
    await isReady(id);
    const path = await addressOf(id);
    fetched = 0;
    isHeld = true;
    const first = [play(path, { range: 'bytes=0-5' }), play(path, { range: 'bytes=6-' })];
    await until(async () => releases.length > 0);
    isHeld = false;
    for (const release of releases) release();
    releases = [];
    expect(await Promise.all(first.map(async (part) => (await part).text()))).toEqual([
      'a film',
      ' of a cat, in ten parts',
    ]);
    const end = await play(path, { range: 'bytes=-5' });
    expect([end.status, end.headers.get('content-range'), await end.text()]).toEqual([206, 'bytes 24-28/29', 'parts']);
    const whole = await fetch(`${gateway.url}/v1/videos/${id}/content`, { headers: authorization() });
    expect([whole.status, await whole.text()]).toEqual([200, bytes.toString()]);
    expect((await play(path, { range: 'bytes=29-' })).status).toBe(416);
    expect(fetched).toBe(1);
  });

  test('is fetched again after an upstream has failed to give it', async () => {
    const id = await order(veo);
    await isReady(id);
    const path = await addressOf(id);
    vertex.respondWith((_call, response) => json(response, 503, { error: { message: 'busy' } }));
    expect((await play(path)).status).toBeGreaterThanOrEqual(500);
    vertex.respondWith((_call, response) =>
      json(response, 200, {
        done: true,
        response: { videos: [{ bytesBase64Encoded: bytes.toString('base64'), mimeType: 'video/mp4' }] },
      }),
    );
    expect(await (await play(path)).text()).toBe(bytes.toString());
  });
});
