import { once } from 'node:events';
import { connect } from 'node:net';
import OpenAI, { AzureOpenAI } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ClientOptions } from 'ws';
import { openRealtime, type RealtimeClient } from '../../support/callers/realtime-client.js';
import { receiptsOfAll } from '../../support/gateway/receipts.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import {
  begunResponse,
  endedResponse,
  newResponse,
  type RealtimeUpstream,
  soundOf,
  spokenPiece,
  startRealtimeUpstream,
  usualUsage,
} from '../../support/upstreams/realtime-upstream.js';
import { httpAnswer } from '../../support/upstreams/websocket-upstream.js';

/* Realtime sessions: by the official SDK and by plain clients. Each response is a charge of its own. */

let gateway: TestGateway;
let upstream: RealtimeUpstream;
let azure: RealtimeUpstream;
let user: TestUser;
let apiKey: string;
const clients: RealtimeClient[] = [];

/** 10 + 10 × ½ + 80 × 2 + 20 × 1½ for the input, 10 + 40 × 4 for the output. */
const costOfUsual = 10 + 5 + 160 + 30 + 10 + 160;
const key = 'sk-upstream-secret-0123456789';

async function connected(more: Parameters<typeof openRealtime>[2] = {}, shown = apiKey): Promise<RealtimeClient> {
  const client = await openRealtime(gateway.url, shown, more);
  clients.push(client);
  return client;
}

/** The SDK speaks TLS wherever it goes. */
const unencrypted = (): ClientOptions => ({
  createConnection: () => connect(Number(new URL(gateway.url).port), '127.0.0.1'),
});

const logged = async () =>
  (await gateway.application.queries.logBefore(user.actor, {}, { limit: 100 }, true)).filter(
    ({ usage_source }) => (usage_source ?? null) !== null,
  );
const lines = (count: number) => until(async () => ((await logged()).length >= count ? logged() : null));
const refusalOf = (opening: Promise<unknown>): Promise<unknown> =>
  opening.then(
    () => 'opened',
    (error: unknown) => error,
  );
const restored = (quota: number) => until(async () => (await gateway.available(user)) === quota);

beforeAll(async () => {
  gateway = await startTestGateway();
  [upstream, azure] = await Promise.all([startRealtimeUpstream(), startRealtimeUpstream()]);
  const options = {
    ModelRatio: '{"deployed":1}',
    ModelMaxOutputTokens: '{"m":1000,"deployed":1000}',
  };
  for (const [name, value] of Object.entries(options)) await gateway.setOption(name, value);
  // One unit a token of text.
  const tokens = { input: { usd: '2' }, cachedInput: { usd: '1' }, output: { usd: '2' } };
  const sound = { audioInput: { usd: '4' }, cachedAudioInput: { usd: '3' }, audioOutput: { usd: '8' } };
  await gateway.setPrice('m', [{ tokens: { ...tokens, ...sound } }]);
  const plain = { input: { usd: '2' }, audioInput: { usd: '2' }, output: { usd: '2' } };
  await gateway.setPrice('gpt-4o-transcribe', [{ tokens: plain }]);
  await gateway.setPrice('gpt-4o-mini-transcribe', [{ tokens: { ...plain, input: { usd: '1' } } }]);
  await gateway.addChannel({
    ...{ type: 1, models: ['m'], baseUrl: upstream.url, key },
    modelMapping: '{"m":"spoken-model"}',
  });
  await gateway.addChannel({ type: 3, models: ['deployed'], baseUrl: azure.url, other: '', key });
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([upstream?.stop(), azure?.stop()]);
});
beforeEach(async () => {
  for (const one of [upstream, azure]) {
    one.opened.splice(0);
    one.events.splice(0);
    Object.assign(one, { behave: null, refuse: null, usage: usualUsage });
  }
  user = await gateway.addUser(100_000_000);
  apiKey = await gateway.addApiKey(user);
});
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.terminate();
});

describe('a realtime session', () => {
  test('of ten turns with sound is served to the official SDK, and each response is charged by its usage', async () => {
    const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1` });
    const session = new OpenAIRealtimeWS({ model: 'm', options: unencrypted() }, client);
    await once(session.socket, 'open');
    let heard = 0;
    session.on('response.output_audio.delta', ({ delta }) => {
      heard += Buffer.from(delta, 'base64').length;
    });
    session.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Be brief.' } });
    for (let turn = 0; turn < 10; turn++) {
      const done = new Promise((resolve) => session.once('response.done', resolve));
      for (let piece = 0; piece < 5; piece++)
        session.send({ type: 'input_audio_buffer.append', audio: soundOf(4_800) });
      session.send({ type: 'input_audio_buffer.commit' });
      session.send({ type: 'response.create' });
      await done;
    }
    session.close();
    expect(heard).toBe(48_000);
    expect(upstream.opened).toMatchObject([
      { url: '/v1/realtime?model=spoken-model', headers: { authorization: `Bearer ${key}` } },
    ]);
    expect(upstream.events.filter(({ type }) => type === 'input_audio_buffer.append')).toHaveLength(50);
    const charged = await lines(10);
    expect(charged.map(({ quota, usage_source, model }) => ({ quota, usage_source, model }))).toEqual(
      Array.from({ length: 10 }, () => ({ quota: costOfUsual, usage_source: 'upstream', model: 'm' })),
    );
    await restored(100_000_000 - 10 * costOfUsual);
  });

  test('opens for browsers, whose key is one of the protocols, and for clients of the beta', async () => {
    const client = await connected({
      headers: {},
      protocols: ['realtime', `openai-insecure-api-key.${apiKey}`, 'openai-beta.realtime-v1'],
    });
    expect(client.socket.protocol).toBe('realtime');
    await client.next('session.created');
    expect(upstream.opened[0]?.headers).toMatchObject({ 'openai-beta': 'realtime=v1' });
    expect(JSON.stringify(upstream.opened[0]?.headers)).not.toContain(apiKey.slice(3, 20));
  });

  test('is opened in both forms of Azure, and put to Azure in the form that suits its client', async () => {
    const old = new AzureOpenAI({
      apiKey,
      endpoint: gateway.url,
      apiVersion: '2025-04-01-preview',
      deployment: 'deployed',
    });
    const session = await OpenAIRealtimeWS.azure(old, { options: unencrypted() });
    await once(session.socket, 'open');
    session.close();
    await connected({ path: '/openai/v1/realtime?model=deployed', headers: { 'api-key': apiKey } });
    expect(azure.opened.map(({ url }) => url)).toEqual([
      '/openai/realtime?api-version=2025-04-01-preview&deployment=deployed',
      '/openai/v1/realtime?model=deployed',
    ]);
    expect(azure.opened[0]?.headers['api-key']).toBe(key);
  });

  test.each([
    ['without a model', { path: '/v1/realtime' }, 400, 'field model is required'],
    ['of an unknown model', { path: '/v1/realtime?model=nothing' }, 404, 'does not exist'],
    ['of transcription', { path: '/v1/realtime?intent=transcription' }, 400, 'intent must be left out'],
    ['of a call over SIP', { path: '/v1/realtime?model=m&call_id=1' }, 400, 'call_id must be left out'],
    ['without a key', { headers: {} }, 401, 'no token was given'],
  ])('%s is refused in HTTP', async (_name, opening, status, message) => {
    const refusal = await refusalOf(connected(opening));
    expect(refusal).toMatchObject({ status, body: expect.stringContaining(message) });
    expect(upstream.opened).toEqual([]);
  });

  test('is refused with what upstream said, without its key', async () => {
    upstream.refuse = (_request, socket) =>
      socket.end(httpAnswer(400, JSON.stringify({ error: { message: `no such thing for ${key}`, type: 'x' } })));
    const refusal = await refusalOf(connected());
    expect(refusal).toMatchObject({ status: 400, body: expect.stringContaining('no such thing for ***') });
    expect(await gateway.available(user)).toBe(100_000_000);
  });

  test.each(['client_secrets', 'calls', 'sessions'])(
    'over WebRTC is refused by POST /v1/realtime/%s',
    async (place) => {
      const answer = await fetch(`${gateway.url}/v1/realtime/${place}`, {
        ...{
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: '{}',
        },
      });
      expect(answer.status).toBe(501);
      expect(await answer.text()).toContain('open a WebSocket at GET /v1/realtime');
    },
  );

  test('passes no event on that would change its model, and says which member is wrong', async () => {
    const client = await connected();
    client.send({ type: 'session.update', session: { model: 'another' } });
    expect(await client.next('error')).toMatchObject({
      error: { param: 'session.model', message: expect.stringContaining('cannot be changed') },
    });
    client.send('no JSON');
    expect(await client.next('error')).toMatchObject({ error: { type: 'invalid_request_error' } });
    client.send({ type: 'session.update', session: { model: 'm', instructions: 'x' } });
    await client.next('session.updated');
    expect(upstream.events).toEqual([
      { type: 'session.update', event_id: expect.any(String), session: { model: 'spoken-model', instructions: 'x' } },
    ]);
  });
});

test('a realtime event with sensitive words is refused and stays away from the upstream', async () => {
  await gateway.setOption('SensitiveWords', 'forbidden');
  try {
    const client = await connected();
    const content = [{ type: 'input_text', text: 'a Forbidden fruit' }];
    client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    expect(await client.next('error')).toMatchObject({ error: { code: 'sensitive_words_detected' } });
    client.send({ type: 'session.update', session: { instructions: 'Say it.' } });
    await client.next('session.updated');
    expect(upstream.events.map(({ type }) => type)).toEqual(['session.update']);
  } finally {
    await gateway.setOption('SensitiveWords', '');
  }
});

describe('the charge of a realtime session', () => {
  test('ends it with an event and code 1008 when the quota does not suffice for another response', async () => {
    const poor = await gateway.addUser(20_000);
    const client = await connected({}, await gateway.addApiKey(poor));
    upstream.usage = {
      ...usualUsage,
      input_tokens: 5_000,
      input_token_details: { audio_tokens: 4_000, text_tokens: 1_000 },
    };
    for (;;) {
      client.send({ type: 'response.create' });
      const next = await Promise.race([client.next('response.done'), client.closed]);
      if ('code' in next) break;
    }
    expect(await client.closed).toEqual({ code: 1008, reason: 'insufficient_user_quota' });
    expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'insufficient_user_quota' } });
    expect(await until(async () => (await gateway.available(poor)) >= 0)).toBe(true);
  });

  test('is beside that of its responses the price of the model that transcribes, for each turn once', async () => {
    const turn = { item_id: 'item_1', content_index: 0, transcript: 'Prove it.' };
    const type = 'conversation.item.input_audio_transcription.completed';
    const tokens = { total_tokens: 60, input_tokens: 50, output_tokens: 10, input_token_details: { audio_tokens: 50 } };
    upstream.behave = (event, send) => {
      if (event.type === 'session.update') send({ type: 'session.updated', session: event.session ?? {} });
      if (event.type !== 'input_audio_buffer.commit') return;
      for (let times = 0; times < 2; times++) send({ type, ...turn, usage: { type: 'tokens', ...tokens } });
    };
    const client = await connected();
    const transcribedBy = (model: string) => ({ audio: { input: { transcription: { model } } } });
    client.send({ type: 'session.update', session: transcribedBy('unpriced') });
    expect(await client.next('error')).toMatchObject({ error: { code: 'model_price_error' } });
    client.send({ type: 'session.update', session: transcribedBy('gpt-4o-transcribe') });
    await client.next('session.updated');
    client.send({ type: 'input_audio_buffer.commit' });
    await client.next(type);
    await client.next(type);
    client.socket.close();
    const charged = await lines(1);
    expect(charged).toMatchObject([{ model: 'gpt-4o-transcribe', usage_source: 'upstream', quota: 60 }]);
    await restored(100_000_000 - 60);
  });

  test('is at the price of the transcription model in use, whatever model the upstream refused', async () => {
    const type = 'conversation.item.input_audio_transcription.completed';
    const usage = { type: 'tokens', total_tokens: 60, input_tokens: 50, output_tokens: 10 };
    upstream.behave = (event, send) => {
      const refused = JSON.stringify(event).includes('gpt-4o-mini-transcribe');
      if (refused) send({ type: 'error', error: { type: 'invalid_request_error', event_id: event.event_id ?? null } });
      else if (event.type === 'session.update') send({ type: 'session.updated', session: event.session ?? {} });
      if (event.type === 'input_audio_buffer.commit')
        send({ type, item_id: 'item_1', content_index: 0, transcript: 'Prove it.', usage });
    };
    const client = await connected();
    const session = (model: string) => ({ audio: { input: { transcription: { model } } } });
    client.send({ type: 'session.update', session: session('gpt-4o-transcribe') });
    await client.next('session.updated');
    client.send({ type: 'session.update', event_id: 'refused', session: session('gpt-4o-mini-transcribe') });
    expect(await client.next('error')).toMatchObject({ error: { event_id: 'refused' } });
    client.send({ type: 'input_audio_buffer.commit' });
    await client.next(type);
    client.socket.close();
    expect(await lines(1)).toMatchObject([{ model: 'gpt-4o-transcribe', quota: 60 }]);
    await restored(100_000_000 - 60);
  });

  test('leaves nothing reserved after a hang-up during a change of the transcription model', async () => {
    upstream.behave = () => {};
    for (const model of ['gpt-4o-transcribe', 'gpt-4o-mini-transcribe']) {
      const client = await connected();
      const session = { audio: { input: { transcription: { model } } } };
      client.send({ type: 'session.update', session });
      client.send({ type: 'session.update', session });
      client.socket.close();
    }
    await until(async () => upstream.sockets.size === 0);
    await restored(100_000_000);
  });

  test('is nothing for a response that failed, and once for one that ends twice', async () => {
    upstream.behave = (event, send) => {
      if (event.type !== 'response.create') return;
      const [failing, told] = [newResponse(), newResponse()];
      send(begunResponse(failing));
      const error = { type: 'server_error', message: `at ${key}` };
      send(endedResponse(failing, usualUsage, { status: 'failed', status_details: { type: 'failed', error } }));
      send(begunResponse(told));
      send(endedResponse(told, usualUsage));
      send(endedResponse(told, usualUsage));
      send({ type: 'rate_limits.updated', rate_limits: [] });
    };
    const client = await connected();
    client.send({ type: 'response.create' });
    expect(JSON.stringify(await client.next('response.done'))).not.toContain(key);
    await client.next('rate_limits.updated');
    client.socket.close();
    await restored(100_000_000 - costOfUsual);
    expect(await lines(1)).toHaveLength(1);
  });

  test.each([
    ['more than its model can take in', { input_tokens: 1e12, output_tokens: 50 }, 'disbelieved'],
    ['no usage', null, 'estimated'],
    ['usage that is no numbers', { input_tokens: {}, output_tokens: 'many', input_token_details: null }, 'estimated'],
  ])('is by what was seen where upstream reports %s', async (_name, usage, source) => {
    upstream.usage = usage as typeof upstream.usage;
    const client = await connected();
    client.send({ type: 'response.create' });
    await client.next('response.done');
    client.socket.close();
    const [line] = await lines(1);
    expect(line).toMatchObject({ usage_source: source });
    expect(line?.quota).toBeLessThan(1_000);
    expect(line?.quota).toBeGreaterThan(0);
  });

  test('is by what was seen where upstream breaks off in the middle of a response', async () => {
    upstream.behave = (event, send, socket) => {
      if (event.type !== 'response.create') return;
      const id = newResponse();
      send(begunResponse(id));
      for (let piece = 0; piece < 10; piece++) send(spokenPiece(id));
      setTimeout(() => socket.terminate(), 50);
    };
    const client = await connected();
    client.send({ type: 'response.create' });
    expect((await client.closed).code).toBe(1011);
    expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'do_request_failed' } });
    const [line] = await lines(1);
    // A second of sound: 20 tokens, each of them four times as expensive as text.
    expect(line).toMatchObject({ usage_source: 'estimated', outcome: 'upstream-broke' });
    expect(line?.quota).toBeGreaterThanOrEqual(80);
  });

  test('is for each of two responses that were cut, and for one that ends without an id', async () => {
    upstream.behave = (event, send, socket) => {
      if (event.type !== 'response.create') return;
      send(begunResponse(newResponse()));
      if (upstream.events.length < 3) return;
      send(endedResponse('', usualUsage));
      setTimeout(() => socket.terminate(), 50);
    };
    const client = await connected();
    for (let times = 0; times < 3; times++) client.send({ type: 'response.create' });
    await client.closed;
    const charged = await lines(3);
    expect(charged.map(({ outcome }) => outcome).toSorted()).toEqual(['completed', 'upstream-broke', 'upstream-broke']);
    for (const { quota } of charged) expect(quota).toBeGreaterThan(0);
  });

  test('is by upstream’s usage where its caller leaves in the middle of a response', async () => {
    let id = '';
    upstream.behave = (event, send) => {
      if (event.type === 'response.cancel') send(endedResponse(id, usualUsage, { status: 'cancelled' }));
      if (event.type !== 'response.create') return;
      id = newResponse();
      send(begunResponse(id));
      send(spokenPiece(id));
    };
    const client = await connected();
    client.send({ type: 'response.create' });
    await client.next('response.output_audio.delta');
    client.socket.terminate();
    const [line] = await lines(1);
    expect(line).toMatchObject({ usage_source: 'upstream', quota: costOfUsual });
    await restored(100_000_000 - costOfUsual);
  });

  test('is never more than what 40 sessions at once on a small balance own', async () => {
    const poor = await gateway.addUser(60_000);
    const shown = await gateway.addApiKey(poor);
    const opened = await Promise.all(Array.from({ length: 40 }, () => refusalOf(connected({}, shown))));
    const admitted = opened.filter((one) => one === 'opened').length;
    expect(admitted).toBeGreaterThan(0);
    expect(admitted).toBeLessThan(40);
    expect(opened.filter((one) => one !== 'opened')[0]).toMatchObject({ status: 403 });
    const sessions = clients.splice(0);
    for (const client of sessions) client.send({ type: 'response.create' });
    await Promise.all(sessions.map((client) => client.next('response.done')));
    for (const { socket } of sessions) socket.terminate();
    await until(async () => (await gateway.available(poor)) === 60_000 - admitted * costOfUsual);
  });

  test('ends with the right to call', async () => {
    const client = await connected();
    const { application, root } = gateway;
    await application.visible(await application.users.manage(root, user.actor.id, 'disable'));
    client.send({ type: 'response.create' });
    expect(await client.closed).toEqual({ code: 1008, reason: 'user_banned' });
    expect(upstream.events).toEqual([]);
  });
});

test('each of these calls has a receipt that gives its charge', async () => {
  const { served, wrong } = await receiptsOfAll(gateway);
  expect(served).toBeGreaterThan(5);
  expect(wrong).toEqual([]);
});
