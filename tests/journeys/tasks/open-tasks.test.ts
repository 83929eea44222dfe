import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { type MidjourneyProxy, startMidjourneyProxy } from '../../support/stand-ins/midjourney-proxy.js';
import { type SunoServer, startSunoServer } from '../../support/stand-ins/suno-server.js';
import { startVideoApi, type VideoApi } from '../../support/stand-ins/video-api.js';
import { until } from '../../support/until.js';

/* The limit of open tasks of a user, over HTTP. */

const funds = 50_000_000;
const option = 'general_setting.open_tasks_per_user';

let gateway: TestGateway;
let callers: Callers;
let suno: SunoServer;
let proxy: MidjourneyProxy;
let videos: VideoApi;
let user: TestUser;
let caller: Caller;

beforeAll(async () => {
  gateway = await startTestGateway({ TASK_POLL_SECONDS: '1' });
  callers = openCallers(gateway.url);
  [suno, proxy, videos] = await Promise.all([startSunoServer(), startMidjourneyProxy(), startVideoApi()]);
  await gateway.addChannel({ type: 36, models: ['suno_music'], baseUrl: suno.url });
  await gateway.addChannel({ type: 5, models: ['mj_imagine'], baseUrl: proxy.url });
  await gateway.addChannel({ type: 1, models: ['sora-2'], baseUrl: videos.url });
  user = await gateway.addUser(funds);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await Promise.all([suno?.stop(), proxy?.stop(), videos?.stop()]);
});

const post = async (path: string, body: JsonObject, as = caller) => {
  const { status, headers, text } = await as.send(path, { method: 'POST', body });
  return { status, retryAfter: headers['retry-after'], body: JSON.parse(text) as JsonObject };
};

test('a user has as many open tasks as the limit allows, of all platforms; the rest are refused and cost nothing', async () => {
  await gateway.setOption(option, '3');
  const songs = await Promise.all(Array.from({ length: 20 }, () => post('/suno/submit/music', { prompt: 'la' })));
  const taken = songs.filter(({ status }) => status === 200);
  expect(taken).toHaveLength(3);
  expect(suno.count('/suno/submit')).toBe(3);
  const message = 'a user may have 3 open tasks; try again when one of yours has ended';
  expect(songs.find(({ status }) => status === 429)).toEqual({
    ...{ status: 429, retryAfter: '30' },
    body: { code: 'too_many_open_tasks', message, data: null },
  });
  expect(await post('/mj/submit/imagine', { prompt: 'a cat' })).toMatchObject({
    ...{ status: 429, body: { description: expect.stringContaining(message), code: 4 } },
  });
  expect(await post('/v1/videos', { model: 'sora-2', prompt: 'a cat' })).toMatchObject({
    ...{ status: 429, body: { error: { code: 'too_many_open_tasks', message: expect.stringContaining(message) } } },
  });
  expect([proxy.received.length, videos.begun.length]).toEqual([0, 0]);
  await until(async () => (await gateway.available(user)) === funds - 3 * 50_000);

  const other = callers.with(await gateway.addApiKey(await gateway.addUser(funds)));
  expect((await post('/suno/submit/music', { prompt: 'la' }, other)).status).toBe(200);

  suno.change(String(taken[0]?.body.data), { status: 'FAILURE', fail_reason: 'moderated' });
  await until(async () => (await post('/v1/videos', { model: 'sora-2', prompt: 'a cat' })).status === 200);
  expect((await post('/suno/submit/music', { prompt: 'la' })).status).toBe(429);
});

test('a task that its server refuses takes no place of the limit, and no limit is set by zero', async () => {
  const refused = callers.with(await gateway.addApiKey(await gateway.addUser(funds)));
  await gateway.setOption(option, '1');
  for (let times = 0; times < 3; times++)
    expect((await post('/suno/submit/music', { prompt: 7 }, refused)).status).toBe(400);
  for (const status of [200, 429])
    expect((await post('/suno/submit/music', { prompt: 'la' }, refused)).status).toBe(status);
  await gateway.setOption(option, '0');
  for (let times = 0; times < 3; times++)
    expect((await post('/suno/submit/music', { prompt: 'la' }, refused)).status).toBe(200);
});
