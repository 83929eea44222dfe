import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { type KeepingUpstream, startKeepingUpstream } from '../../support/upstreams/keeping-upstream.js';
import { reportedUsage } from '../../support/upstreams/responses-answers.js';

/* Responses in the background: reserved until their upstream is at an end, then charged once. */

let gateway: TestGateway;
let callers: Callers;
let upstream: KeepingUpstream;
let channel: ChannelId;
let user: TestUser;
let client: OpenAI;
let apiKey: string;

const ask = { model: 'm', input: 'What is a ledger?', background: true } as const;
const begun = async () => {
  const { data, response } = await client.responses.create(ask).withResponse();
  return { id: data.id, status: data.status, requestId: response.headers.get('x-request-id') ?? '' };
};
/** The gate and the log may lag behind what an answer says. */
const becomes = (expected: number) => until(async () => ((await gateway.available(user)) === expected ? true : null));
const polled = (id: string) =>
  upstream.received.filter(({ url, method }) => method === 'GET' && url.endsWith(id)).length;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startKeepingUpstream();
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, '{"m":1,"chat-only":1}');
  channel = await gateway.addChannel({ type: 1, models: ['m'], baseUrl: upstream.url });
  await gateway.addChannel({ type: 25, models: ['chat-only'], baseUrl: upstream.url });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  user = await gateway.addUser(10_000_000);
  apiKey = await gateway.addApiKey(user);
  client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  upstream.received.length = 0;
});

describe('a response in the background', () => {
  test('is answered at once, is held while it runs, and is settled once when the poller sees its end', async () => {
    const { id, status, requestId } = await begun();
    expect(status).toBe('queued');
    expect(upstream.received[0]?.body).toEqual(ask);
    expect(await gateway.available(user)).toBeLessThan(10_000_000 - 1_000);
    upstream.finish(id);
    await becomes(10_000_000 - 30);
    expect(await lineOf(gateway, user, { requestId })).toMatchObject({
      usage_source: 'upstream',
      prompt_tokens: 20,
      completion_tokens: 10,
      quota: 30,
    });
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'completed' });
    expect(await gateway.available(user)).toBe(10_000_000 - 30);
  });

  test('is settled when its caller fetches its end, before they have it, and ten of them settle it once', async () => {
    const { id, requestId } = await begun();
    expect((await client.responses.retrieve(id)).status).toBe('queued');
    upstream.finish(id);
    const got = await Promise.all(Array.from({ length: 10 }, () => client.responses.retrieve(id)));
    expect(got.map(({ status }) => status)).toEqual(Array(10).fill('completed'));
    await becomes(10_000_000 - 30);
    expect(await lineOf(gateway, user, { requestId })).toMatchObject({ quota: 30 });
  });

  test('can be the turn before once it has ended', async () => {
    const { id } = await begun();
    upstream.finish(id);
    await client.responses.retrieve(id);
    const next = await client.responses.create({ model: 'm', input: 'and?', previous_response_id: id });
    expect(next.previous_response_id).toBe(id);
  });

  test('that is cancelled is charged by what it had used', async () => {
    const { id } = await begun();
    upstream.next(`POST /v1/responses/${id}/cancel`, (response) => {
      upstream.finish(id, { status: 'cancelled', output: [], usage: reportedUsage(20, 3) });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(upstream.responses.get(id)));
    });
    expect((await client.responses.cancel(id)).status).toBe('cancelled');
    await becomes(10_000_000 - 23);
  });

  test('that fails is charged by the usage it reports, and is free without any', async () => {
    const error = { code: 'server_error', message: 'It failed.' };
    const one = await begun();
    upstream.finish(one.id, { status: 'failed', error, output: [], usage: reportedUsage(20, 5) });
    await becomes(10_000_000 - 25);
    const other = await begun();
    upstream.finish(other.id, { status: 'failed', error, output: [], usage: null });
    await becomes(10_000_000 - 25);
  });

  test('is its user’s alone while it runs', async () => {
    const { id } = await begun();
    const stranger = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000)));
    for (const [method, rest] of [
      ['GET', ''],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const)
      expect((await stranger.send(`/v1/responses/${id}${rest}`, { method })).status).toBe(404);
    upstream.finish(id);
    await becomes(10_000_000 - 30);
  });

  test('is not deleted while it runs: the answer is 409', async () => {
    const { id } = await begun();
    await expect(client.responses.delete(id)).rejects.toMatchObject({ status: 409, code: 'response_in_progress' });
    expect(upstream.received.some(({ method }) => method === 'DELETE')).toBe(false);
    upstream.finish(id);
    await client.responses.delete(id);
    await becomes(10_000_000 - 30);
  });

  test('that is cancelled without a usage, and of which nothing was delivered, is released', async () => {
    const { id } = await begun();
    upstream.finish(id, { status: 'cancelled', output: [], usage: null });
    await becomes(10_000_000);
  });

  test('whose upstream does not know it for a moment is not found then, and is settled when it ends', async () => {
    const { id } = await begun();
    const known = upstream.responses.get(id) ?? {};
    upstream.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await until(async () => (polled(id) >= 2 ? true : null));
    expect(await gateway.available(user)).toBeLessThan(10_000_000 - 1_000);
    upstream.responses.set(id, known);
    upstream.finish(id);
    await becomes(10_000_000 - 30);
  });

  test('that has an unknown status is still running', async () => {
    const { id } = await begun();
    upstream.finish(id, { status: 'someday', output: [], usage: null });
    await until(async () => (polled(id) >= 1 ? true : null));
    expect(await gateway.available(user)).toBeLessThan(10_000_000 - 1_000);
    upstream.finish(id);
    await becomes(10_000_000 - 30);
  });

  test('is polled again after its upstream could not answer, and is settled then', async () => {
    const { id } = await begun();
    for (const status of [500, 401, 429])
      upstream.next(`GET /v1/responses/${id}`, (response) => void response.writeHead(status).end('{}'));
    await until(async () => (polled(id) >= 2 ? true : null));
    expect(await gateway.available(user)).toBeLessThan(10_000_000 - 1_000);
    upstream.finish(id);
    await becomes(10_000_000 - 30);
  });

  test('that reports more usage than it can have is charged by what came', async () => {
    const { id } = await begun();
    upstream.finish(id, { usage: reportedUsage(900_000_000, 10) });
    await until(async () => ((await gateway.available(user)) > 10_000_000 - 1_000 ? true : null));
    expect(await gateway.available(user)).toBeGreaterThan(10_000_000 - 100);
  });

  test('is charged to its user though they are banned and the key is deleted meanwhile', async () => {
    const { id } = await begun();
    const { application, root } = gateway;
    await application.visible(await application.users.manage(root, user.actor.id, 'disable'));
    upstream.finish(id);
    await becomes(10_000_000 - 30);
  });

  test.each([
    ['store', { store: false }, 'background'],
    ['its kind', { background: 'yes' }, 'background'],
    ['a model that only chat serves', { model: 'chat-only' }, 'background'],
  ])('is refused for %s', async (_what, body, param) => {
    const got = await callers.with(apiKey).send('/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { ...ask, ...body } as JsonObject,
    });
    expect(got.status).toBe(400);
    expect(got.text).toContain(param);
    expect(upstream.received).toEqual([]);
  });

  test('is refused by its name where nothing is to be kept', async () => {
    await gateway.setOption('general_setting.keep_upstream', 'false');
    const got = await callers.with(apiKey).send('/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: ask,
    });
    await gateway.setOption('general_setting.keep_upstream', 'true');
    expect([got.status, errorIn(got).param]).toEqual([400, 'background']);
  });

  test('that its upstream answers at once is a call like every other', async () => {
    upstream.next('POST /v1/responses', (response) => {
      const body = {
        id: 'resp_atonce_0123456789',
        object: 'response',
        status: 'completed',
        usage: reportedUsage(20, 10),
      };
      const output = [
        { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] },
      ];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...body, output }));
    });
    await begun();
    await becomes(10_000_000 - 30);
  });

  test('of forty at once on a small balance is taken as often as it can be paid', async () => {
    const poor = await gateway.addUser(100_000);
    const poorClient = new OpenAI({
      apiKey: await gateway.addApiKey(poor),
      baseURL: `${gateway.url}/v1`,
      maxRetries: 0,
    });
    const asked = await Promise.allSettled(
      Array.from({ length: 40 }, () => poorClient.responses.create({ ...ask, max_output_tokens: 20_000 })),
    );
    const ids = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []));
    expect(ids.length).toBeGreaterThan(0);
    expect(await gateway.available(poor)).toBeGreaterThanOrEqual(0);
    for (const id of ids) upstream.finish(id, { usage: reportedUsage(20, 10) });
    await until(async () => ((await gateway.available(poor)) === 100_000 - 30 * ids.length ? true : null));
  });
});

test('of 300 parallel requests of one user for responses in the background, 100 are accepted, and as many again when these have ended', async () => {
  // Refused upstream: these give their slots back.
  for (let n = 0; n < 3; n++) upstream.next('POST /v1/responses', (response) => void response.writeHead(500).end('{}'));
  await Promise.allSettled(Array.from({ length: 3 }, () => client.responses.create(ask)));
  upstream.received.length = 0;
  for (const round of [1, 2]) {
    const asked = await Promise.allSettled(Array.from({ length: 300 }, () => client.responses.create(ask)));
    const ids = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []));
    const refused = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    const posts = upstream.received.filter(({ method }) => method === 'POST').length;
    expect([ids.length, posts]).toEqual([100, round * 100]);
    for (const error of refused) expect(error).toMatchObject({ status: 429, code: 'too_many_background_responses' });
    for (const id of ids) upstream.finish(id);
    await Promise.all(ids.map((id) => client.responses.retrieve(id)));
    await becomes(10_000_000 - 3_000 * round);
  }
});

describe('a stream in the background', () => {
  test('gives its id at once, and can be left, resumed and settled once', async () => {
    const stream = await client.responses.create({ ...ask, stream: true });
    let id = '';
    for await (const event of stream)
      if (event.type === 'response.queued') {
        id = event.response.id;
        break;
      }
    expect(id).toMatch(/^resp_/);
    expect(await gateway.available(user)).toBeLessThan(10_000_000 - 1_000);
    upstream.finish(id);
    const types: string[] = [];
    const rest = await client.responses.retrieve(id, { stream: true, starting_after: 0 });
    for await (const { type } of rest) types.push(type);
    expect(types.at(-1)).toBe('response.completed');
    await becomes(10_000_000 - 30);
  });

  test.each(['cancelled', 'failed'])(
    'that is left and then %s without a usage is charged for what it had delivered',
    async (status) => {
      const id = `resp_left_${status}_0123456789`;
      upstream.next('POST /v1/responses', (response) => {
        const begins = { id, object: 'response', status: 'in_progress', background: true, output: [], usage: null };
        upstream.responses.set(id, begins);
        const events: JsonObject[] = [
          { type: 'response.created', sequence_number: 0, response: begins },
          {
            ...{ type: 'response.output_text.delta', sequence_number: 1, item_id: 'msg_1' },
            ...{ output_index: 0, content_index: 0, delta: 'word '.repeat(200) },
          },
        ];
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      });
      const stream = await client.responses.create({ ...ask, stream: true });
      for await (const { type } of stream) if (type === 'response.output_text.delta') break;
      const error = status === 'failed' ? { code: 'server_error', message: 'It failed.' } : null;
      upstream.finish(id, { status, error, output: [], usage: null });
      await until(async () => {
        const left = await gateway.available(user);
        return left > 10_000_000 - 1_000 && left < 10_000_000 - 150 ? true : null;
      });
    },
  );

  test('that upstream breaks off breaks for its caller too, and is settled when it ends', async () => {
    let id = '';
    upstream.next('POST /v1/responses', (response) => {
      id = 'resp_breaks_0123456789';
      const begins = { id, object: 'response', status: 'in_progress', background: true, output: [], usage: null };
      upstream.responses.set(id, begins);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = { type: 'response.created', sequence_number: 0, response: begins };
      response.write(`event: response.created\ndata: ${JSON.stringify(event)}\n\n`, () => response.destroy());
    });
    const stream = await client.responses.create({ ...ask, stream: true });
    await expect(
      (async () => {
        for await (const _event of stream);
      })(),
    ).rejects.toThrow();
    expect(await gateway.available(user)).toBeLessThan(10_000_000 - 1_000);
    upstream.finish(id);
    await becomes(10_000_000 - 30);
  });
});

test('a stream at an upstream that does not work in the background is charged when its caller hangs up', async () => {
  upstream.next('POST /v1/responses', (response) => {
    const begins = { id: 'resp_plain_0123456789', object: 'response', status: 'in_progress', output: [], usage: null };
    const events: JsonObject[] = [
      { type: 'response.created', response: begins },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'word '.repeat(200) },
    ];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  });
  const stream = await client.responses.create({ ...ask, stream: true });
  for await (const { type } of stream) if (type === 'response.output_text.delta') break;
  await until(async () => {
    const left = await gateway.available(user);
    return left > 10_000_000 - 1_000 && left < 10_000_000 - 150 ? true : null;
  });
});

test('a response in the background whose channel is deleted has an unknown outcome, and is released', async () => {
  const other = await startKeepingUpstream();
  const removed = await gateway.addChannel({ type: 1, models: ['gone'], baseUrl: other.url });
  await gateway.setOption('ModelRatio', '{"m":1,"gone":1}');
  const response = await client.responses.create({ ...ask, model: 'gone' });
  expect(response.status).toBe('queued');
  await gateway.application.visible(await gateway.application.channels.remove(gateway.root, [removed]));
  await becomes(10_000_000);
  await other.stop();
  expect(channel).not.toBe(removed);
});
