import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import { isObject, type JsonObject, objectsIn } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { openSocket } from '../../support/callers/websocket-client.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import {
  type DialectUpstream,
  protocols,
  signature,
  startDialectUpstream,
  used,
} from '../../support/upstreams/dialect-upstreams.js';
import { messageItem, reportedUsage, responseOf } from '../../support/upstreams/responses-answers.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Responses at upstreams that have chat alone are stored by the gateway, and continued by their ids. */

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let owner: Caller;
let ownerKey: string;
let ownersOther: Caller;
let stranger: Caller;
let client: OpenAI;
let channels: Map<string, ChannelId>;
const upstreams = new Map<string, DialectUpstream>();
/** Has Responses. */
let native: Upstream;
const nativeBodies: JsonObject[] = [];

const upstreamOf = (wire: string): DialectUpstream => {
  const upstream = upstreams.get(wire);
  if (upstream === undefined) throw new Error(`no upstream of ${wire}`);
  return upstream;
};

const post = (caller: Caller, body: JsonObject) =>
  caller.send('/v1/responses', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { model: 'openai', input: 'What is a ledger?', ...body },
  });
const made = async (caller: Caller, body: JsonObject = {}): Promise<JsonObject & { id: string }> =>
  JSON.parse((await post(caller, body)).text);
const at = (caller: Caller, path: string, method = 'GET') => caller.send(`/v1/responses/${path}`, { method });
const refusal = ({ status, text }: { readonly status: number; readonly text: string }) => {
  const { code, param } = errorIn({ text } as never);
  return [status, code, param];
};
const notFound = [404, 'previous_response_not_found', 'previous_response_id'];

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  const ratios = JSON.stringify(Object.fromEntries([...protocols, 'both'].map((name) => [name, 1])));
  for (const option of ['ModelRatio', 'CompletionRatio', 'CacheRatio']) await gateway.setOption(option, ratios);
  channels = new Map();
  for (const wire of protocols) {
    const upstream = await startDialectUpstream(wire);
    upstreams.set(wire, upstream);
    // One type of OpenAI's wire that has chat alone.
    const type = wire === 'openai' ? 25 : upstream.type;
    const modelMapping = JSON.stringify({ [wire]: upstream.model, both: upstream.model });
    const models = wire === 'anthropic' ? [wire, 'both'] : [wire];
    channels.set(wire, await gateway.addChannel({ type, models, baseUrl: upstream.url, modelMapping }));
  }
  native = await startUpstream(({ body }, response) => {
    nativeBodies.push(JSON.parse(String(body)));
    const text = JSON.stringify(responseOf([messageItem('Own.')], { usage: reportedUsage(1, 1) }));
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  });
  channels.set('native', await gateway.addChannel({ type: 1, models: ['both'], baseUrl: native.url, priority: 10 }));
  user = await gateway.addUser(100_000_000);
  const apiKey = await gateway.addApiKey(user);
  ownerKey = apiKey;
  owner = callers.with(apiKey);
  ownersOther = callers.with(await gateway.addApiKey(user));
  stranger = callers.with(await gateway.addApiKey(await gateway.addUser(100_000_000)));
  client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  for (const upstream of upstreams.values()) await upstream.stop();
  await native?.stop();
});
beforeEach(() => {
  for (const upstream of upstreams.values()) upstream.answerWith({ text: 'A book of accounts.' });
});

describe.each(protocols)('a response at an upstream of the wire %s', (wire) => {
  test('is continued by its id for three turns, streamed too, and each turn is charged', async () => {
    const upstream = upstreamOf(wire);
    const before = await gateway.available(user);
    const first = await client.responses.create({ model: wire, instructions: 'Be brief.', input: 'What is a ledger?' });
    expect(first).toMatchObject({ store: true, previous_response_id: null });
    upstream.answerWith({ text: 'Two sides.' });
    const stream = client.responses.stream({ model: wire, input: 'And an entry?', previous_response_id: first.id });
    const second = await stream.finalResponse();
    expect([second.previous_response_id, second.output_text]).toEqual([first.id, 'Two sides.']);
    // Instructions of an earlier turn do not carry over.
    expect(upstream.received().system).not.toContain('Be brief');
    upstream.answerWith({ text: 'Yes.' });
    const third = await client.responses.create({
      ...{ model: wire, previous_response_id: second.id },
      input: [{ role: 'user', content: 'Do they balance?' }],
    });
    expect(upstream.received().messages).toEqual([
      { role: 'user', text: 'What is a ledger?' },
      { role: 'model', text: 'A book of accounts.' },
      { role: 'user', text: 'And an entry?' },
      { role: 'model', text: 'Two sides.' },
      { role: 'user', text: 'Do they balance?' },
    ]);
    expect(third.previous_response_id).toBe(second.id);
    expect(before - (await gateway.available(user))).toBe(3 * (used.input + used.output));
  });

  test('brings its calls and its thinking along', async () => {
    const upstream = upstreamOf(wire);
    upstream.answerWith({ thinking: 'Which city?', calls: [{ name: 'weather', args: { city: 'Bern' } }] });
    const tools = [{ type: 'function' as const, name: 'weather', parameters: { type: 'object' }, strict: false }];
    const first = await client.responses.create({ model: wire, input: 'Weather?', tools });
    const call = first.output.find((item) => item.type === 'function_call');
    upstream.answerWith({ text: 'Rain.' });
    const next = await client.responses.create({
      ...{ model: wire, tools, previous_response_id: first.id },
      input: [{ type: 'function_call_output', call_id: String(call?.call_id), output: 'rain' }],
    });
    expect(next.output_text).toBe('Rain.');
    const { calls, results, signatures } = upstream.received();
    expect([calls, results]).toEqual([[{ name: 'weather', args: { city: 'Bern' } }], ['rain']]);
    if (wire === 'anthropic') expect(signatures).toEqual([signature]);
  });
});

describe('a response that is stored here', () => {
  test('can be read, listed and deleted by its user, with every key', async () => {
    const first = await made(owner, { input: 'One?' });
    const next = await made(owner, { input: 'Two?', previous_response_id: first.id });
    const read = await client.responses.retrieve(next.id);
    expect(read).toMatchObject({ id: next.id, status: 'completed', store: true, previous_response_id: first.id });
    expect(JSON.parse((await at(ownersOther, next.id)).text)).toEqual(next);
    const listed = await client.responses.inputItems.list(next.id, { order: 'asc' });
    expect(listed.data.map((item) => (item.type === 'message' ? [item.role, item.content[0]] : null))).toMatchObject([
      ['user', { type: 'input_text', text: 'One?' }],
      ['assistant', { type: 'output_text', text: 'A book of accounts.' }],
      ['user', { type: 'input_text', text: 'Two?' }],
    ]);
    const ids: unknown[] = [];
    for await (const item of client.responses.inputItems.list(next.id, { limit: 1 })) ids.push(item.id);
    expect(ids).toEqual(listed.data.map(({ id }) => id).reverse());
    await client.responses.delete(next.id);
    expect((await at(owner, next.id)).status).toBe(404);
    expect((await at(owner, next.id, 'DELETE')).status).toBe(404);
    // Each is whole by itself.
    expect((await post(owner, { previous_response_id: first.id })).status).toBe(200);
  });

  test('refuses by name what it cannot do', async () => {
    const { id } = await made(owner);
    expect(refusal(await at(owner, `${id}/cancel`, 'POST')).slice(0, 1)).toEqual([400]);
    for (const [query, param] of [
      ['?stream=true', 'stream'],
      ['/input_items?limit=0', 'limit'],
      ['/input_items?order=up', 'order'],
      ['/input_items?after=nothing', 'after'],
    ])
      expect(refusal(await at(owner, id + query))).toEqual([400, 'invalid_request', param]);
  });

  test('is not found by another user, with the same answer as an unknown id', async () => {
    const { id } = await made(owner);
    const unknown = id.replace(/.{8}$/, 'zzzzzzzz');
    const words = async (caller: Caller, asked: string) => {
      const got = [
        await at(caller, asked),
        await at(caller, asked, 'DELETE'),
        await at(caller, `${asked}/input_items`),
        await post(caller, { previous_response_id: asked }),
      ];
      return got.map(({ status, text, requestId }) => [
        status,
        text.replaceAll(asked, 'ID').replaceAll(requestId, 'REQUEST'),
      ]);
    };
    const available = await gateway.available(user);
    const strangers = await words(stranger, id);
    expect(strangers.map(([status]) => status)).toEqual([404, 404, 404, 404]);
    expect(strangers).toEqual(await words(owner, unknown));
    expect(await gateway.available(user)).toBe(available);
    expect((await at(owner, id)).status).toBe(200);
  });

  test('is not made with store false, nor of an answer that failed', async () => {
    const { id, store } = await made(owner, { store: false });
    expect([store, refusal(await post(owner, { previous_response_id: id }))]).toEqual([false, notFound]);
    upstreamOf('openai').refuses(400);
    const refused = await post(owner, {});
    expect(refused.status).toBe(400);
    expect((await at(owner, `resp_${refused.requestId}`)).status).toBe(404);
  });

  test('keeps the id of its call, whatever id an upstream gives', async () => {
    const [one, other] = [await made(owner), await made(owner)];
    expect(one.id).toMatch(/^resp_\d{17}\w{8}$/);
    expect(one.id).not.toBe(other.id);
  });

  test('is continued at an upstream that has Responses, with all that was said and without the id', async () => {
    const setEnabled = async (enabled: boolean) => {
      const channel = channels.get('native') as ChannelId;
      await gateway.application.visible(await gateway.application.channels.setEnabled(gateway.root, channel, enabled));
    };
    await setEnabled(false);
    upstreamOf('anthropic').answerWith({ thinking: 'Hm.', text: 'Paper.' });
    const first = await made(owner, { model: 'both', input: 'What is it made of?' });
    await setEnabled(true);
    nativeBodies.length = 0;
    const next = await post(owner, { model: 'both', input: 'All of it?', previous_response_id: first.id });
    expect(next.status).toBe(200);
    const [body = {}] = nativeBodies;
    expect(body).not.toHaveProperty('previous_response_id');
    expect(objectsIn(body.input).map(({ role, content }) => [role, isObject(content) ? null : content])).toMatchObject([
      ['user', 'What is it made of?'],
      ['assistant', [{ text: 'Paper.' }]],
      ['user', 'All of it?'],
    ]);
  });

  test('counts with all that was said where tokens are counted and words are searched', async () => {
    const { id } = await made(owner, { input: `secretword ${'ledger '.repeat(2_000)}` });
    const count = async (body: JsonObject): Promise<number> => {
      const got = await owner.send('/v1/responses/input_tokens', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: { model: 'both', input: 'On?', ...body },
      });
      return (JSON.parse(got.text) as { input_tokens: number }).input_tokens;
    };
    expect((await count({ previous_response_id: id })) - (await count({}))).toBeGreaterThan(1_900);
    await gateway.setOption('SensitiveWords', 'secretword');
    expect(refusal(await post(owner, { previous_response_id: id })).slice(0, 2)).toEqual([
      400,
      'sensitive_words_detected',
    ]);
    await gateway.setOption('SensitiveWords', '');
  });

  test('must be affordable with all that was said before it', async () => {
    const poor = await gateway.addUser(1_500);
    const caller = callers.with(await gateway.addApiKey(poor));
    const limited = { max_output_tokens: 50 };
    const first = await made(caller, { ...limited, input: 'ledger '.repeat(500) });
    expect(first.status).toBe('completed');
    while ((await gateway.available(poor)) > 450)
      expect((await post(caller, { ...limited, input: 'On?' })).status).toBe(200);
    const available = await gateway.available(poor);
    const refused = await post(caller, { ...limited, input: 'On?', previous_response_id: first.id });
    expect([refused.status, errorIn(refused).code]).toEqual([403, 'insufficient_user_quota']);
    expect(await gateway.available(poor)).toBe(available);
    expect((await post(caller, { ...limited, input: 'On?' })).status).toBe(200);
  });

  test('cannot be read in the database', async () => {
    const { id } = await made(owner, { input: 'xylophones of Zanzibar' });
    await withDatabase(gateway.config, quietLog, async ({ pool }) => {
      const stored = () =>
        pool.query<{ sealed: string }>(
          `SELECT encode(sealed, 'escape') AS sealed FROM stored_response WHERE response_id = $1`,
          [id],
        );
      const row = await until(async () => (await stored()).rows[0] ?? null);
      expect(row.sealed).not.toMatch(/xylophones|Zanzibar|accounts/);
      const { rows: tables } = await pool.query<{ name: string }>(
        `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
      );
      for (const { name } of tables) {
        const { rows } = await pool.query<{ found: boolean }>(
          `SELECT EXISTS (SELECT FROM ${name} AS line WHERE line::text ~ 'xylophones|Zanzibar') AS found`,
        );
        expect([name, rows[0]?.found]).toEqual([name, false]);
      }
    });
    expect(gateway.logged.join('\n')).not.toMatch(/xylophones|Zanzibar/);
  });

  test('that cannot be opened is not found, and the log says so', async () => {
    const { id } = await made(owner);
    await withDatabase(gateway.config, quietLog, async ({ pool }) => {
      await until(async () => {
        const { rowCount } = await pool.query(
          `UPDATE stored_response SET sealed = sealed || '\\x00' WHERE response_id = $1`,
          [id],
        );
        return rowCount === 1 ? true : null;
      });
    });
    expect(refusal(await post(owner, { previous_response_id: id }))).toEqual(notFound);
    expect((await at(owner, id)).status).toBe(404);
    expect(gateway.logged.join('\n')).toContain('a stored response cannot be opened');
  });

  test('is too old after the days of its option', async () => {
    const { id } = await made(owner);
    const age = (days: number) =>
      withDatabase(gateway.config, quietLog, ({ pool }) =>
        until(async () => {
          const { rowCount } = await pool.query(
            'UPDATE stored_response SET stored_at = stored_at - $2::bigint WHERE response_id = $1',
            [id, days * 86_400_000],
          );
          return rowCount === 1 ? true : null;
        }),
      );
    await age(6.9);
    expect((await at(owner, id)).status).toBe(200);
    await age(0.2);
    expect((await at(owner, id)).status).toBe(404);
    expect(refusal(await post(owner, { previous_response_id: id }))).toEqual(notFound);
  });

  test('that would be too large says that it is not stored', async () => {
    const parts = Array.from({ length: 9 }, () => ({ type: 'input_text', text: 'x'.repeat(1_000_000) }));
    const got = await made(owner, { input: [{ role: 'user', content: parts }], max_output_tokens: 16 });
    expect([got.status, got.store]).toEqual(['completed', false]);
    expect((await at(owner, got.id)).status).toBe(404);
  });
});

describe('all responses that are stored of a user', () => {
  const rowsOf = ({ actor }: TestUser): Promise<number> =>
    withDatabase(gateway.config, quietLog, async ({ pool }) => {
      const { rows } = await pool.query<{ count: string }>(
        'SELECT count(*) FROM stored_response WHERE user_id = $1 AND bytes > 0',
        [actor.id],
      );
      return Number(rows[0]?.count);
    });
  const withResponses = async (): Promise<{ readonly writer: TestUser; readonly ids: readonly string[] }> => {
    const writer = await gateway.addUser(1_000_000);
    const caller = callers.with(await gateway.addApiKey(writer));
    const ids = [(await made(caller)).id, (await made(caller)).id];
    await until(async () => ((await rowsOf(writer)) === 2 ? true : null));
    return { writer, ids };
  };

  test('are deleted by the user’s one order, and those of others stay', async () => {
    const { id } = await made(owner);
    const { writer } = await withResponses();
    const { storedResponses } = gateway.application;
    expect(await storedResponses.count(writer.actor)).toBe(2);
    expect(await storedResponses.removeAll(writer.actor)).toBe(2);
    expect([await storedResponses.count(writer.actor), (await at(owner, id)).status]).toEqual([0, 200]);
  });

  test('go with the user', async () => {
    const { writer } = await withResponses();
    await gateway.application.users.manage(gateway.root, writer.actor.id, 'delete');
    await until(async () => ((await rowsOf(writer)) === 0 ? true : null));
  });
});

describe('a conversation of many turns by id', () => {
  test('is continued at the price of its length alone, each turn from one row', async () => {
    let { id } = await made(owner, { input: 'Turn 0' });
    for (let turn = 1; turn <= 60; turn++)
      ({ id } = await made(owner, { input: `Turn ${turn}`, previous_response_id: id }));
    expect(upstreamOf('openai').received().messages).toHaveLength(121);
  });

  test('cannot name itself, nor a response that is still being made', async () => {
    const { id } = await made(owner);
    const input = [{ type: 'item_reference', id }];
    expect((await post(owner, { input, previous_response_id: id })).status).toBe(404);
  });
});

describe('over a WebSocket', () => {
  test('a stored response is continued, also one that was made over HTTP', async () => {
    const { id } = await made(owner, { input: 'By HTTP?' });
    const socket = await openSocket(gateway.url, ownerKey);
    const create = { type: 'response.create', model: 'openai', input: 'By WebSocket?', previous_response_id: id };
    const first = await socket.create(create);
    const response = first.at(-1)?.response as JsonObject;
    expect(response).toMatchObject({ status: 'completed', store: true, previous_response_id: id });
    await socket.create({ ...create, input: 'Again?', previous_response_id: String(response.id) });
    socket.close();
    const said = upstreamOf('openai')
      .received()
      .messages.filter(({ role }) => role === 'user');
    expect(said.map(({ text }) => text)).toEqual(['By HTTP?', 'By WebSocket?', 'Again?']);
  });
});

describe('where responses are not stored here', () => {
  beforeAll(() => gateway.setOption('general_setting.store_responses', 'false'));
  afterAll(() => gateway.setOption('general_setting.store_responses', 'true'));

  test('store true is refused by name, and a response says that it is not stored', async () => {
    expect((await post(owner, { store: true })).text).toContain('store cannot be put to this channel');
    expect(await made(owner)).toMatchObject({ store: false, previous_response_id: null });
  });

  test('previous_response_id is not found, or refused by name where nothing is kept upstream either', async () => {
    const { id } = await made(owner);
    expect(refusal(await post(owner, { previous_response_id: id }))).toEqual(notFound);
    await gateway.setOption('general_setting.keep_upstream', 'false');
    expect(refusal(await post(owner, { previous_response_id: id }))).toEqual([
      400,
      'invalid_request',
      'previous_response_id',
    ]);
    await gateway.setOption('general_setting.keep_upstream', 'true');
  });
});

describe('where nothing is kept upstream', () => {
  beforeAll(() => gateway.setOption('general_setting.keep_upstream', 'false'));
  afterAll(() => gateway.setOption('general_setting.keep_upstream', 'true'));

  test('a response with store true is stored here, and continued', async () => {
    const { id } = await made(owner, { store: true });
    expect((await post(owner, { previous_response_id: id })).status).toBe(200);
  });

  test('an unknown id is not found, and store true is refused where upstream has Responses', async () => {
    expect(refusal(await post(owner, { previous_response_id: 'resp_unknown' }))).toEqual(notFound);
    expect(refusal(await post(owner, { model: 'both', store: true }))).toEqual([400, 'invalid_request', 'store']);
  });
});
