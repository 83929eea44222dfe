import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { openSocket } from '../../support/callers/websocket-client.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import {
  type AnthropicUpstream,
  messageOf,
  startAnthropicUpstream,
} from '../../support/upstreams/anthropic-upstream.js';
import { type KeepingUpstream, startKeepingUpstream } from '../../support/upstreams/keeping-upstream.js';

/* What a provider keeps of a response belongs to the user it was made for, and stays at the channel that made it. */

let gateway: TestGateway;
let callers: Callers;
let upstreams: KeepingUpstream[];
let channels: ChannelId[];
let user: TestUser;
let owner: Caller;
let ownersOther: Caller;
let stranger: Caller;
let strangersKey: string;
let client: OpenAI;

const post = (caller: Caller, body: JsonObject, path = '/v1/responses') =>
  caller.send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { model: 'm', input: 'What is a ledger?', ...body },
  });
const made = async (caller: Caller, body: JsonObject = {}): Promise<JsonObject> =>
  JSON.parse((await post(caller, body)).text) as JsonObject;
const requests = () => upstreams.flatMap(({ received }) => received);
const clear = () => {
  for (const { received } of upstreams) received.length = 0;
};

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstreams = await Promise.all([startKeepingUpstream(), startKeepingUpstream(), startKeepingUpstream()]);
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, '{"m":1,"small":1}');
  await gateway.setOption('RetryTimes', '3');
  channels = [];
  for (const { url } of upstreams)
    channels.push(await gateway.addChannel({ type: 1, models: ['m', 'small'], baseUrl: url }));
  user = await gateway.addUser(1_000_000_000);
  const apiKey = await gateway.addApiKey(user);
  owner = callers.with(apiKey);
  client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  ownersOther = callers.with(await gateway.addApiKey(user));
  strangersKey = await gateway.addApiKey(await gateway.addUser(1_000_000_000));
  stranger = callers.with(strangersKey);
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  for (const upstream of upstreams ?? []) await upstream.stop();
});
beforeEach(clear);

describe('a response without store', () => {
  test('is sent byte for byte, so that the provider decides whether it is stored', async () => {
    const text = '{ "model":"m","input" : "hi", "someday": 12345678901234567890 }';
    await owner.send('/v1/responses', { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
    expect(requests().map(({ text }) => text)).toEqual([text]);
  });
});

describe('the next turn by the id of the response before', () => {
  test('goes to the channel that made it, whichever others there are, with every key of its user', async () => {
    let { id } = await made(owner);
    const first = upstreams.findIndex(({ responses }) => responses.has(String(id)));
    for (let turn = 0; turn < 6; turn++) {
      const next = await made(turn % 2 ? owner : ownersOther, { previous_response_id: String(id), stream: false });
      id = next.id ?? '';
      expect(upstreams.findIndex(({ responses }) => responses.has(String(id)))).toBe(first);
    }
  });

  test('is served to the SDK, streamed too', async () => {
    const one = await client.responses.create({ model: 'm', input: 'hi', store: true });
    const stream = client.responses.stream({ model: 'm', input: 'and?', previous_response_id: one.id });
    const two = await stream.finalResponse();
    const three = await client.responses.create({ model: 'm', input: 'so?', previous_response_id: two.id });
    expect(three.previous_response_id).toBe(two.id);
  });

  test('is not tried at another channel where its own fails', async () => {
    const { id } = await made(owner);
    const at = upstreams.findIndex(({ responses }) => responses.has(String(id)));
    clear();
    upstreams[at]?.next('POST /v1/responses', (response) => void response.writeHead(500).end('{}'));
    expect((await post(owner, { previous_response_id: id ?? '' })).status).toBe(500);
    expect(requests()).toHaveLength(1);
  });

  test('is refused with its reason where that channel is switched off', async () => {
    const { id } = await made(owner);
    const at = upstreams.findIndex(({ responses }) => responses.has(String(id)));
    const channel = channels[at] as ChannelId;
    await gateway.application.visible(await gateway.application.channels.setEnabled(gateway.root, channel, false));
    const got = await post(owner, { previous_response_id: id ?? '' });
    await gateway.application.visible(await gateway.application.channels.setEnabled(gateway.root, channel, true));
    expect([got.status, errorIn(got).code, errorIn(got).param]).toEqual([
      503,
      'kept_channel_unavailable',
      'previous_response_id',
    ]);
  });

  test('of two that lie at different channels is refused', async () => {
    const ids = new Map<number, string>();
    while (ids.size < 2) {
      const { id } = await made(owner);
      ids.set(
        upstreams.findIndex(({ responses }) => responses.has(String(id))),
        String(id),
      );
    }
    const [one = '', other = ''] = ids.values();
    const got = await post(owner, {
      previous_response_id: one,
      prompt_cache_options: { comparison_response_id: other },
    });
    expect([got.status, errorIn(got).param]).toEqual([400, 'prompt_cache_options.comparison_response_id']);
  });
});

/** Where a request can name what is kept: a body that does, and the member it stands in. */
const places: readonly (readonly [kind: string, body: (id: string) => JsonObject, param: string])[] = [
  ['response', (id) => ({ previous_response_id: id }), 'previous_response_id'],
  [
    'response',
    (id) => ({ prompt_cache_options: { comparison_response_id: id } }),
    'prompt_cache_options.comparison_response_id',
  ],
  ['item', (id) => ({ input: [{ type: 'item_reference', id }] }), 'input[0].id'],
  ['item', (id) => ({ input: [{ role: 'user', content: 'hi' }, { id }] }), 'input[1].id'],
  ['item', (id) => ({ input: [{ type: 'image_generation_call', id }] }), 'input[0].id'],
  ['item', (id) => ({ input: [{ type: 'reasoning', id, summary: [] }] }), 'input[0].id'],
  ['item', (id) => ({ input: [{ type: 'reasoning', id, summary: [], encrypted_content: null }] }), 'input[0].id'],
  ['item', (id) => ({ input: [{ type: 'reasoning', id, summary: [], encrypted_content: '' }] }), 'input[0].id'],
  ['item', (id) => ({ input: [{ type: 'compaction', id }] }), 'input[0].id'],
  ['container', (id) => ({ tools: [{ type: 'code_interpreter', container: id }] }), 'tools[0].container'],
  [
    'container',
    (id) => ({ input: [{ type: 'code_interpreter_call', id: 'ci_1', code: '1', container_id: id, outputs: [] }] }),
    'input[0].container_id',
  ],
  [
    'container',
    (id) => ({
      input: [
        {
          ...{ type: 'shell_call', id: 'sh_1', call_id: 'call_1', action: { commands: ['ls'] } },
          environment: { type: 'container_reference', container_id: id },
        },
      ],
    }),
    'input[0].environment.container_id',
  ],
  ['conversation', (id) => ({ conversation: id }), 'conversation'],
  ['conversation', (id) => ({ conversation: { id } }), 'conversation'],
];

async function idOf(kind: string): Promise<string> {
  const response = await made(owner, { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] });
  const [code, message] = response.output as JsonObject[];
  const ids: Readonly<Record<string, unknown>> = {
    response: response.id,
    item: message?.id,
    container: code?.container_id,
    conversation: 'conv_000000000000000000000001',
  };
  return String(ids[kind]);
}

describe('an id that names a', () => {
  test.each(places)('%s is its user’s alone, at %s %s', async (kind, body, param) => {
    const id = await idOf(kind);
    clear();
    const strangers = await post(stranger, body(id));
    const unknown = await post(stranger, body(`${id}9`));
    expect(requests()).toEqual([]);
    expect([strangers.status, errorIn(strangers).param, errorIn(strangers).type]).toEqual([
      404,
      param,
      'invalid_request_error',
    ]);
    expect(strangers.text.replaceAll(id, 'ID').replaceAll(strangers.requestId, '')).toBe(
      unknown.text.replaceAll(`${id}9`, 'ID').replaceAll(unknown.requestId, ''),
    );
    for (const path of ['/v1/responses/compact', '/v1/responses/input_tokens']) {
      const got = await post(stranger, body(id), path);
      expect([path, got.status, errorIn(got).param]).toEqual([path, 404, param]);
    }
    expect(requests()).toEqual([]);
    if (kind !== 'conversation') {
      expect((await post(owner, body(id))).status).toBe(200);
      // Byte for byte what it came as.
      expect(requests()[0]?.body).toEqual({ model: 'm', input: 'What is a ledger?', ...body(id) });
    }
  });

  test.each([
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['tools[0].type', { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
    [
      'input[0].content[0].file_id',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
    ],
  ])('thing of the account’s own stays refused by its name: %s', async (param, body) => {
    const got = await post(owner, body as JsonObject);
    expect([got.status, errorIn(got).param]).toEqual([400, param]);
    expect(requests()).toEqual([]);
  });

  test.each(['', 'a b', '../responses', `resp_${'x'.repeat(500)}`])(
    'response with an impossible id is not found: %j',
    async (id) => {
      const got = await post(owner, { previous_response_id: id });
      expect([got.status, errorIn(got).code]).toEqual([404, 'previous_response_not_found']);
      expect(got.text.length).toBeLessThan(500);
    },
  );
});

test('over a WebSocket, ids of another user are not found, wherever a request names them', async () => {
  const socket = await openSocket(gateway.url, strangersKey);
  try {
    for (const [kind, body, param] of places) {
      const id = await idOf(kind);
      clear();
      const [answer, ...more] = await socket.create({ model: 'm', input: 'What is a ledger?', ...body(id) });
      expect([answer?.type, answer?.status, answer?.param, more]).toEqual(['error', 404, param, []]);
      expect(requests()).toEqual([]);
    }
  } finally {
    socket.socket.terminate();
  }
});

test('reasoning with its encrypted content is sent upstream unchanged for any user', async () => {
  const input = [
    { type: 'reasoning', id: 'rs_0123456789abcdef0123', summary: [], encrypted_content: 'gAAAAABsealed' },
    { role: 'user', content: 'and?' },
  ];
  expect((await post(stranger, { input })).status).toBe(200);
  expect(requests()[0]?.body).toEqual({ model: 'm', input });
});

test('an item of a response that is not stored is not found', async () => {
  const response = await made(owner, { store: false });
  const [message] = response.output as JsonObject[];
  expect((await post(owner, { previous_response_id: response.id ?? '' })).status).toBe(404);
  expect((await post(owner, { input: [{ type: 'item_reference', id: message?.id ?? '' }] })).status).toBe(404);
});

test('a balance that cannot pay what a kept response brings into the prompt is refused before upstream is asked', async () => {
  const poor = await gateway.addUser(1_000_000);
  const caller = callers.with(await gateway.addApiKey(poor));
  const metadata = { input_tokens: '300000' };
  const first = await post(caller, { input: 'x '.repeat(310_000), max_output_tokens: 100, metadata });
  const { id = '' } = JSON.parse(first.text) as { id?: string };
  const left = await gateway.available(poor);
  expect(left).toBeGreaterThan(600_000);
  clear();
  const turns = await Promise.all(
    Array.from({ length: 40 }, () => post(caller, { previous_response_id: id, metadata, max_output_tokens: 100 })),
  );
  const served = turns.filter(({ status }) => status === 200).length;
  // Each needs 300,010 tokens of its prompt at the least.
  expect(served).toBe(2);
  expect(turns.filter(({ status }) => status === 403)).toHaveLength(38);
  expect(requests()).toHaveLength(served);
  expect(left - (await gateway.available(poor))).toBe(2 * 300_010);
});

describe('the container of an answer of Anthropic’s', () => {
  let anthropic: AnthropicUpstream;
  const container = { id: 'container_011CPR5CNjB747bTd36fQLFk', expires_at: '2026-12-01T00:00:00Z' };
  const ask = (caller: Caller, body: JsonObject) =>
    caller.send('/v1/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: { model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...body },
    });

  beforeAll(async () => {
    anthropic = await startAnthropicUpstream();
    anthropic.respondWith(messageOf([{ type: 'text', text: 'Hi.' }], {}, { container }));
    for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, '{"m":1,"claude":1}');
    await gateway.addChannel({ type: 14, models: ['claude'], baseUrl: anthropic.url });
  });
  afterAll(() => anthropic?.stop());

  test.each([false, true])('is named again by its user alone (streamed: %s)', async (stream) => {
    expect((await ask(owner, { stream })).status).toBe(200);
    const { calls } = anthropic;
    calls.length = 0;
    for (const named of [container.id, { id: container.id }]) {
      const refused = await ask(stranger, { container: named });
      expect([refused.status, errorIn(refused).type]).toEqual([404, 'not_found_error']);
      expect(calls).toHaveLength(0);
      expect((await ask(owner, { container: named })).status).toBe(200);
      expect(calls.pop()?.json.container).toEqual(named);
    }
  });
});

describe('where nothing is to be kept', () => {
  const keeping = ['general_setting.keep_upstream', 'general_setting.store_responses'] as const;
  beforeAll(async () => {
    for (const option of keeping) await gateway.setOption(option, 'false');
  });
  afterAll(async () => {
    for (const option of keeping) await gateway.setOption(option, 'true');
  });

  test('a request is sent with store false', async () => {
    await made(owner);
    expect(requests()[0]?.body).toEqual({ model: 'm', input: 'What is a ledger?', store: false });
  });

  test('reasoning without its encrypted content is left out of a request, and of the count of its tokens', async () => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{"n":1.50}' };
    const sealed = { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gAAAAABsealed' };
    const output = { type: 'function_call_output', call_id: 'call_1', output: 'seen' };
    const stored = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] };
    const input = [stored, sealed, call, output] as unknown as JsonObject[];
    expect((await post(owner, { input })).status).toBe(200);
    const counted = await owner.send('/v1/responses/input_tokens', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { model: 'm', input },
    });
    expect(counted.status).toBe(200);
    expect(requests().map(({ body }) => body.input)).toEqual([
      [sealed, call, output],
      [sealed, call, output],
    ]);
  });

  test.each(['store', ...new Set(places.map(([, , param]) => param))])('%s is refused by its name', async (param) => {
    const place = places.find(([, , named]) => named === param);
    const got = await post(owner, place?.[1]('resp_000000000000000000000001') ?? { store: true });
    // A container is made whether or not anything else is kept.
    expect([got.status, errorIn(got).param]).toEqual([place?.[0] === 'container' ? 404 : 400, param]);
  });
});
