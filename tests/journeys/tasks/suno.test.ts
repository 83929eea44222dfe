import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ChannelId, UserId } from '../../../src/domain/kernel/ids.js';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { type Answer, type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { answers, type SunoServer, startSunoServer } from '../../support/stand-ins/suno-server.js';
import { until } from '../../support/until.js';

/* Songs and lyrics over real HTTP: submitted, charged, followed to their end, and refunded where they fail. */

const songPrice = 50_000;
const lyricsPrice = 5_000;
const funds = 10 * songPrice;
let gateway: TestGateway;
let callers: Callers;
let server: SunoServer;
let channel: ChannelId;
let user: TestUser;
let apiKey: string;
let caller: Caller;

const bodyOf = ({ text }: Answer): JsonObject => {
  const body = parseJson(text);
  return isObject(body) ? body : {};
};
const post = (path: string, body: JsonObject, as = caller) => as.send(path, { method: 'POST', body });
const submit = (body: JsonObject = { prompt: 'la' }, as = caller) => post('/suno/submit/music', body, as);
const submitted = async (body?: JsonObject): Promise<string> => {
  const answer = await submit(body);
  expect(answer.status).toBe(200);
  return String(bodyOf(answer).data);
};
const fetched = async (id: string): Promise<JsonObject> => {
  const { data } = bodyOf(await caller.send(`/suno/fetch/${id}`));
  return isObject(data) ? data : {};
};
/** Songs of tests before are asked about meanwhile. */
const orders = () => server.received.filter(({ path }) => path.startsWith('/suno/submit'));
const becomes = (expected: number, of = user) =>
  until(async () => ((await gateway.available(of)) === expected ? true : null));

beforeAll(async () => {
  gateway = await startTestGateway({ TASK_POLL_SECONDS: '1' });
  callers = openCallers(gateway.url);
  server = await startSunoServer();
  channel = await gateway.addChannel({ type: 36, models: ['suno_music', 'suno_lyrics'], baseUrl: server.url });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await server?.stop();
});
beforeEach(async () => {
  user = await gateway.addUser(funds);
  apiKey = await gateway.addApiKey(user);
  caller = callers.with(apiKey);
  server.received.length = 0;
});
afterEach(() => {
  server.always('/suno', null);
});

describe('a song', () => {
  test('is charged when its server has taken it, and is followed to its end by polls', async () => {
    const answer = await submit({ prompt: 'la', title: 'T', tags: 'folk', unknown: 1 });
    const id = String(bodyOf(answer).data);
    expect(bodyOf(answer)).toEqual({ code: 'success', message: '', data: id });
    expect(orders()[0]).toMatchObject({
      ...{ method: 'POST', path: '/suno/submit/MUSIC' },
      body: { prompt: 'la', title: 'T', tags: 'folk', mv: 'chirp-v3-0' },
    });
    await becomes(funds - songPrice);
    const clip = { id: 'c1', title: 'T', audio_url: 'https://cdn.example/a.mp3', status: 'complete' };
    server.change(id, { status: 'SUCCESS', start_time: 1_760_000_000, data: [clip] });
    const task = await until(async () => {
      const now = await fetched(id);
      return now.status === 'SUCCESS' ? now : null;
    });
    expect(task).toMatchObject({ task_id: id, action: 'MUSIC', progress: '100%', fail_reason: '', data: [clip] });
    expect(await gateway.available(user)).toBe(funds - songPrice);
  });

  test('that fails is refunded once, with its reason, however often it is fetched', async () => {
    const id = await submitted();
    await becomes(funds - songPrice);
    server.change(id, { status: 'FAILURE', fail_reason: 'moderated' });
    await Promise.all(Array.from({ length: 10 }, () => fetched(id)));
    await becomes(funds);
    expect(await fetched(id)).toMatchObject({ status: 'FAILURE', fail_reason: 'moderated', progress: '100%' });
    server.change(id, { status: 'SUCCESS', fail_reason: '' });
    await fetched(id);
    expect(await fetched(id)).toMatchObject({ status: 'FAILURE' });
    expect(await gateway.available(user)).toBe(funds);
  });

  test('never goes back, whatever its server says later', async () => {
    const id = await submitted();
    server.change(id, { status: 'IN_PROGRESS', progress: '60%' });
    await until(async () => ((await fetched(id)).progress === '60%' ? true : null));
    server.change(id, { status: 'QUEUED', progress: '10%' });
    const fetches = server.count('/suno/fetch');
    await until(async () => (server.count('/suno/fetch') > fetches + 1 ? true : null));
    expect(await fetched(id)).toMatchObject({ status: 'IN_PROGRESS', progress: '60%' });
  });

  test('has the words of its text looked at by the word filter', async () => {
    for (const option of ['CheckSensitiveEnabled', 'CheckSensitiveOnPromptEnabled'])
      await gateway.setOption(option, 'true');
    await gateway.setOption('SensitiveWords', 'forbidden');
    const answer = await submit({ gpt_description_prompt: 'a FORBIDDEN song' });
    expect([answer.status, bodyOf(answer).code]).toEqual([400, 'sensitive_words_detected']);
    expect(server.count('/suno/submit')).toBe(0);
    await gateway.setOption('SensitiveWords', '');
  });
});

describe('lyrics', () => {
  test('have a price of their own, and need a prompt', async () => {
    const refused = await post('/suno/submit/lyrics', { prompt: '' });
    expect([refused.status, bodyOf(refused)]).toEqual([
      400,
      { code: 'invalid_request', message: 'prompt_empty', data: null },
    ]);
    expect((await post('/suno/submit/lyrics', { prompt: 'love' })).status).toBe(200);
    expect(orders().map(({ path, body }) => [path, body])).toEqual([['/suno/submit/LYRICS', { prompt: 'love' }]]);
    await becomes(funds - lyricsPrice);
  });
});

describe('a request that no task follows from', () => {
  test.each([
    ['an action that does not exist', '/suno/submit/video', {}, 400, 'invalid_request', 'invalid_action'],
    ['a member of a wrong type', '/suno/submit/music', { prompt: 7 }, 400, 'invalid_request', 'prompt must be a text'],
    ['an unknown address', '/suno/sing', {}, 404, 'invalid_request_error', 'Invalid URL (POST /suno/sing)'],
  ] as const)('for %s is refused in the words of its clients', async (_what, path, body, status, code, message) => {
    const answer = await post(path, body);
    expect([answer.status, bodyOf(answer)]).toEqual([status, { code, message, data: null }]);
    expect(server.count('/suno/submit')).toBe(0);
  });

  test('without a valid key is refused before its action is looked at', async () => {
    for (const path of ['/suno/submit/music', '/suno/submit/video', '/suno/fetch'])
      expect((await post(path, {}, callers.with('sk-wrong'))).status).toBe(401);
    expect((await callers.with('sk-wrong').send('/suno/fetch/song-1')).status).toBe(401);
  });

  test('costs nothing where the server refuses it, and shows the server’s own code', async () => {
    server.next(
      '/suno/submit',
      answers.json(200, { code: 'lyrics_refused', message: 'these lyrics are not sung here', data: null }),
    );
    const answer = await submit();
    expect([answer.status, bodyOf(answer)]).toEqual([
      500,
      { code: 'lyrics_refused', message: 'these lyrics are not sung here', data: null },
    ]);
    await becomes(funds);
  });

  test('is sent again where the server refuses it clearly and retries are on, and is charged once', async () => {
    await gateway.setOption('RetryTimes', '1');
    server.next('/suno/submit', answers.json(503, { code: 'busy', message: 'later', data: null }));
    expect((await submit()).status).toBe(200);
    expect(server.count('/suno/submit')).toBe(2);
    await becomes(funds - songPrice);
    await gateway.setOption('RetryTimes', '0');
  });

  test('is put at the address in lower case where that in upper case does not exist', async () => {
    server.next('/suno/submit/MUSIC', answers.html(404));
    server.next('/suno/submit/music', answers.json(200, { code: 'success', message: '', data: 'low-1' }));
    expect(bodyOf(await submit())).toMatchObject({ code: 'success', data: 'low-1' });
    await becomes(funds - songPrice);
  });
});

describe('a server that may have taken a song and does not say so', () => {
  test.each([
    ['answers a page', answers.html(200)],
    ['answers a page with an error status', answers.html(502)],
    ['answers without an id', answers.json(200, { code: 'success', message: '', data: '' })],
    ['hangs up', answers.hangUp],
  ] as const)('and %s is asked once, and nothing is charged', async (_what, answer) => {
    await gateway.setOption('RetryTimes', '3');
    server.next('/suno/submit', answer);
    const refused = await submit();
    expect(refused.status).toBeGreaterThanOrEqual(500);
    expect(server.count('/suno/submit')).toBe(1);
    await becomes(funds);
    await gateway.setOption('RetryTimes', '0');
  });
});

describe('a song that continues another', () => {
  const goesOn = (id: string) => ({ prompt: 'la', continue_clip_id: 'c1', continue_at: 30, task_id: id });
  const sung = async (): Promise<string> => {
    const id = await submitted();
    server.change(id, { status: 'SUCCESS', data: [{ id: 'c1' }] });
    await until(async () => ((await fetched(id)).status === 'SUCCESS' ? true : null));
    return id;
  };

  test('goes to the server that has the first, whatever other channels there are', async () => {
    const id = await sung();
    const other = await startSunoServer();
    const rival = await gateway.addChannel({ type: 36, models: ['suno_music'], baseUrl: other.url, priority: 100 });
    for (let times = 0; times < 3; times++) await submitted(goesOn(id));
    expect(server.count('/suno/submit')).toBe(4);
    expect(orders().at(-1)?.body).toMatchObject({ continue_clip_id: 'c1', task_id: id });
    expect(other.received).toEqual([]);
    await gateway.application.channels.remove(gateway.root, [rival]);
    await other.stop();
  });

  test('by the clip of another user is refused, and costs nothing', async () => {
    const id = await sung();
    await becomes(funds - songPrice);
    const answer = await submit({ ...goesOn(id), continue_clip_id: 'c2' });
    expect([answer.status, bodyOf(answer)]).toEqual([
      400,
      { code: 'invalid_request', message: 'continue_clip_id must be a clip of the task task_id', data: null },
    ]);
    expect(server.count('/suno/submit')).toBe(1);
    await becomes(funds - songPrice);
  });

  test('of another user is refused as one that does not exist', async () => {
    const id = await submitted();
    const stranger = callers.with(await gateway.addApiKey(await gateway.addUser(funds)));
    for (const body of [goesOn(id), goesOn('song-none'), goesOn('../x'), { prompt: 'la', task_id: id }]) {
      const answer = await submit(body, stranger);
      expect([answer.status, bodyOf(answer)]).toEqual([
        400,
        { code: 'task_not_exist', message: 'task_not_exist', data: null },
      ]);
    }
    expect(bodyOf(await submit({ continue_clip_id: 'c1' }))).toMatchObject({ message: 'task id is required' });
  });
});

describe('songs that are fetched', () => {
  test('are their user’s alone, by any key of theirs, in the order of the ids', async () => {
    const first = await submitted();
    const second = await submitted();
    const stranger = callers.with(await gateway.addApiKey(await gateway.addUser(funds)));
    const unknown = { code: 'task_not_exist', message: 'task_not_exist', data: null };
    const theirs = await stranger.send(`/suno/fetch/${first}`);
    expect([theirs.status, bodyOf(theirs)]).toEqual([400, unknown]);
    expect(bodyOf(await post('/suno/fetch', { ids: [first, second] }, stranger)).data).toEqual([]);
    const another = callers.with(await gateway.addApiKey(user));
    const { data } = bodyOf(await post('/suno/fetch', { ids: [second, 'none', first, '7'] }, another));
    expect((data as JsonObject[]).map(({ task_id }) => task_id)).toEqual([second, first]);
  });

  test.each([
    ['no list', { ids: 'song-1' }],
    ['a list of something else', { ids: [1] }],
    ['too long a list', { ids: Array.from({ length: 101 }, (_, at) => `s${at}`) }],
  ] as const)('by %s are refused by the name of the member', async (_what, body) => {
    const answer = await post('/suno/fetch', body as unknown as JsonObject);
    expect([answer.status, bodyOf(answer).message]).toEqual([400, 'ids must be a list of at most 100 texts']);
  });

  test('count in the rate limit of their user when one request names several', async () => {
    const id = await submitted();
    const limit = { ModelRequestRateLimitCount: '3', ModelRequestRateLimitSuccessCount: '3' };
    for (const [name, value] of Object.entries({ ...limit, ModelRequestRateLimitEnabled: 'true' }))
      await gateway.setOption(name, value);
    const statuses: number[] = [];
    for (let times = 0; times < 4; times++) statuses.push((await post('/suno/fetch', { ids: [id] })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await caller.send('/v1/videos')).status).toBe(429);
    expect((await caller.send(`/suno/fetch/${id}`)).status).toBe(200);
    await gateway.setOption('ModelRequestRateLimitEnabled', 'false');
  });

  test('can be fetched with a key that has spent all it had', async () => {
    const poor = await gateway.addApiKey(user, { quota: songPrice });
    const spent = callers.with(poor);
    const id = String(bodyOf(await submit({ prompt: 'la' }, spent)).data);
    await until(async () => ((await submit({ prompt: 'la' }, spent)).status === 401 ? true : null));
    expect(bodyOf(await spent.send(`/suno/fetch/${id}`))).toMatchObject({ data: { task_id: id } });
  });

  test('are answered as last known while their server is silent', async () => {
    const id = await submitted();
    server.always('/suno/fetch', answers.silence);
    expect(await fetched(id)).toMatchObject({ task_id: id, status: 'NOT_START' });
    server.always('/suno/fetch', null);
  });
});

describe('a server that talks nonsense about its songs', () => {
  test.each([
    ['answers pages', answers.html(200)],
    ['answers errors', answers.html(500)],
    ['answers without an end', answers.endless],
    ['hangs up', answers.hangUp],
    ['forgets them', answers.json(200, { code: 'success', message: '', data: [] })],
  ] as const)('and %s leaves them open, and they end when it says so', async (_what, answer) => {
    const id = await submitted();
    server.always('/suno/fetch', answer);
    await fetched(id);
    await until(async () => (server.count('/suno/fetch') >= 2 ? true : null));
    expect(await fetched(id)).toMatchObject({ status: 'NOT_START' });
    server.always('/suno/fetch', null);
    server.change(id, { status: 'FAILURE', fail_reason: 'no' });
    await becomes(funds);
  });
});

describe('two hundred requests at once with funds for ten', () => {
  test('submit ten songs, and are charged for ten', async () => {
    await gateway.setOption('general_setting.open_tasks_per_user', '0');
    const all = await Promise.all(Array.from({ length: 200 }, () => submit()));
    await gateway.setOption('general_setting.open_tasks_per_user', '100');
    expect(all.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(new Set(all.filter(({ status }) => status !== 200).map((one) => bodyOf(one).code))).toEqual(
      new Set(['quota_not_enough']),
    );
    expect(server.count('/suno/submit')).toBe(10);
    await becomes(0);
  });
});

describe('a song whose channel, key or user is gone before its end', () => {
  test('is refunded where the channel is deleted', async () => {
    const doomed = await startSunoServer();
    const id = await gateway.addChannel({ type: 36, models: ['suno_music'], baseUrl: doomed.url, priority: 100 });
    const song = await submitted();
    expect(doomed.count('/suno/submit')).toBe(1);
    await gateway.application.channels.remove(gateway.root, [id]);
    await becomes(funds);
    expect(await fetched(song)).toMatchObject({ status: 'FAILURE', fail_reason: 'the channel of the task is gone' });
    await doomed.stop();
  });

  test('is followed where the channel is switched off', async () => {
    const song = await submitted();
    await gateway.application.channels.setEnabled(gateway.root, channel, false);
    server.change(song, { status: 'SUCCESS', data: [] });
    await until(async () => ((await fetched(song)).status === 'SUCCESS' ? true : null));
    await gateway.application.channels.setEnabled(gateway.root, channel, true);
  });

  test('is followed to its end, and no further, where the user is deleted', async () => {
    const song = await submitted();
    await becomes(funds - songPrice);
    await gateway.application.visible(await gateway.application.users.erase(gateway.root, user.actor.id));
    server.change(song, { status: 'FAILURE', fail_reason: 'no' });
    const isAsked = async (): Promise<boolean> => {
      const rounds = server.count('/suno/fetch');
      await until(async () => (server.count('/suno/fetch') > rounds ? true : null));
      return server.received.slice(-1).some(({ body }) => (body.ids as string[]).includes(song));
    };
    // Another one keeps the rounds going.
    const other = await gateway.addUser(funds);
    await submit({ prompt: 'la' }, callers.with(await gateway.addApiKey(other)));
    await until(async () => ((await isAsked()) ? null : true));
    expect(gateway.logged.filter((line) => line.includes('became of a task'))).toEqual([]);
  });

  test('is refunded to its user where the key is deleted', async () => {
    const song = await submitted();
    await becomes(funds - songPrice);
    const owned = { ownerId: UserId(user.actor.id) };
    const { items } = await gateway.application.queries.allApiKeys(gateway.root, { page: 1, size: 10 }, owned);
    for (const { id } of items) await gateway.application.apiKeys.remove(user.actor, id);
    server.change(song, { status: 'FAILURE', fail_reason: 'no' });
    await becomes(funds);
  });
});
