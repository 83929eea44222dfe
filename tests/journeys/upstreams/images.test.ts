import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { otherForUser } from '../../../src/rest-compat/log-other.js';
import { logContent } from '../../../src/rest-compat/log-text.js';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { type Answer, type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { receiptsOfAll } from '../../support/gateway/receipts.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Pictures that are made and changed: what goes upstream, what comes back, and what it costs. */

const balance = 10_000_000;
const generations = '/v1/images/generations';
const edits = '/v1/images/edits';
const png = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  // 10,000 by 10,000 pixels, of which there are none.
  Buffer.from('00002710000027100802000000', 'hex'),
]);
const base64 = png.toString('base64');
const usage = {
  total_tokens: 4_260,
  input_tokens: 100,
  output_tokens: 4_160,
  input_tokens_details: { text_tokens: 40, image_tokens: 60 },
};
const made = { created: 1_760_000_000, data: [{ b64_json: base64 }], usage };

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
let drawing: ChannelId;
let atAddress: ChannelId;
let user: TestUser;
let apiKey: string;
let caller: Caller;
let client: OpenAI;
let reported: JsonObject;
let status: number;
let events: readonly JsonObject[] | null;
let holds: boolean;
let finish: (event: JsonObject) => void;
let sent: { readonly url: string; readonly body: string; readonly type: string }[] = [];

beforeAll(async () => {
  upstream = await startUpstream(({ url, body, headers }, response) => {
    sent.push({ url, body, type: headers['content-type'] ?? '' });
    if (events === null) {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(reported));
      return;
    }
    response.writeHead(status, { 'content-type': 'text/event-stream' });
    const write = (event: JsonObject) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    for (const event of events) write(event);
    if (holds)
      finish = (event) => {
        write(event);
        response.end();
      };
    else response.end();
  });
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  const baseUrl = upstream.url;
  drawing = await gateway.addChannel({ type: 1, models: ['gpt-image-1', 'dall-e-3', 'by-size', 'by-ratio'], baseUrl });
  const modelMapping = '{"mapped":"dall-e-3"}';
  await gateway.addChannel({
    type: 1,
    models: ['mapped'],
    baseUrl,
    modelMapping,
    paramOverride: '{"n":4,"size":"1792x1024"}',
  });
  const address = `${baseUrl}/own/v1/images/generations`;
  atAddress = await gateway.addChannel({ type: 8, models: ['my-pictures'], baseUrl: address });
  await gateway.addChannel({ type: 48, models: ['grok-imagine-image'], baseUrl });
  await gateway.addChannel({ type: 27, models: ['talks-only'], baseUrl });
  await gateway.setOption('ModelPrice', '{"dall-e-3":0.04,"mapped":0.04}');
  await gateway.setOption('ModelRatio', '{"by-ratio":4,"my-pictures":2,"talks-only":1}');
  // A million tokens at 2 USD are a million of quota.
  await gateway.setPrice('gpt-image-1', [
    { tokens: { input: { usd: '5' }, imageInput: { usd: '10' }, imageOutput: { usd: '40' } } },
  ]);
  await gateway.setPrice('by-size', [
    {
      pictures: [
        { size: '1024x1024', quality: 'low', usd: '0.01' },
        { size: '1024x1024', usd: '0.02' },
        { size: '1536x1024', usd: '0.03' },
      ],
    },
  ]);
  await gateway.setOption('RetryTimes', '0');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  user = await gateway.addUser(balance);
  apiKey = await gateway.addApiKey(user);
  caller = callers.with(apiKey);
  client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0, timeout: 30_000 });
  reported = made;
  status = 200;
  events = null;
  holds = false;
  sent = [];
});

const order = (body: JsonObject, path = generations, by = caller): Promise<Answer> =>
  by.send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { prompt: 'A boat.', ...body },
  });
const line = (answer: Answer) => lineOf(gateway, user, answer);

describe('pictures made of a text', () => {
  test('are passed on as upstream gives them, and cost the tokens that it reports', async () => {
    const answer = await order({
      model: 'gpt-image-1',
      size: '1024x1024',
      quality: 'high',
      response_format: 'b64_json',
    });
    expect(JSON.parse(answer.text)).toEqual(made);
    expect(sent.map(({ url, body }) => [url, JSON.parse(body)])).toEqual([
      [generations, { prompt: 'A boat.', model: 'gpt-image-1', size: '1024x1024', quality: 'high' }],
    ]);
    // 40 × 2.5 + 60 × 5 + 4160 × 20
    expect(await line(answer)).toMatchObject({
      ...{ quota: 83_600, usage_source: 'upstream' },
      usage: { input: 40, imageInput: 60, imageOutput: 4_160, images: 1 },
    });
    expect(await gateway.available(user)).toBe(balance - 83_600);
  });

  test.each<[string, JsonObject, number, number]>([
    [
      'the price of a call, times size, quality and pictures',
      { model: 'dall-e-3', size: '1024x1792', quality: 'hd', n: 2 },
      2,
      120_000,
    ],
    ['the price of a call in the usual size', { model: 'dall-e-3' }, 1, 20_000],
    ['what the model costs that the name is mapped to', { model: 'mapped', quality: 'hd' }, 1, 40_000],
    ['its usual size and quality', { model: 'mapped' }, 1, 20_000],
    ['the ratio of the model, of which one is 0.0025 USD', { model: 'by-ratio', size: '512x512' }, 1, 2_250],
    ['the price of size and quality', { model: 'by-size', size: '1024x1024', quality: 'low' }, 1, 5_000],
    ['the price of a size at any quality', { model: 'by-size', size: '1024x1024', quality: 'high', n: 3 }, 3, 30_000],
    ['the highest price, where the model decides on the size', { model: 'by-size' }, 1, 15_000],
  ])('cost %s', async (_name, body, count, quota) => {
    reported = { created: 1, data: Array.from({ length: count }, () => ({ url: 'https://pictures.example/1.png' })) };
    const answer = await order(body);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, reported]);
    expect(await line(answer)).toMatchObject({ quota, usage: { images: count } });
  });

  test('that did not come are not charged, and more than were ordered are not either', async () => {
    reported = { created: 1, data: [{ url: 'https://pictures.example/1.png' }] };
    expect(await line(await order({ model: 'dall-e-3', n: 3 }))).toMatchObject({ quota: 20_000 });
    reported = { created: 1, data: Array.from({ length: 9 }, () => ({ url: 'https://pictures.example/1.png' })) };
    expect(await line(await order({ model: 'dall-e-3' }))).toMatchObject({
      quota: 20_000,
      usage_source: 'disbelieved',
    });
    reported = { created: 1, data: [null, { url: {} }, 'none'] };
    const none = await order({ model: 'dall-e-3' });
    expect([none.status, errorIn(none).message]).toEqual([502, expect.stringContaining('without an answer')]);
    expect(await gateway.available(user)).toBe(balance - 40_000);
  });

  test.each<[string, JsonObject]>([
    ['nothing', {}],
    ['objects where numbers belong', { usage: { input_tokens: {}, output_tokens: { __proto__: 1 } } }],
  ])('cost as many tokens as are documented where upstream reports %s', async (_name, rest) => {
    reported = { created: 1, data: made.data, ...rest };
    const answer = await order({ model: 'gpt-image-1', size: '1536x1024', quality: 'low' });
    expect(await line(answer)).toMatchObject({ usage_source: 'estimated', usage: { imageOutput: 408, images: 1 } });
    expect(JSON.parse(answer.text).usage.output_tokens).toBe(408);
  });

  test('cost no more tokens than were reserved, whatever upstream reports', async () => {
    reported = { ...made, usage: { input_tokens: 2 ** 40, output_tokens: 2 ** 40, total_tokens: 2 ** 41 } };
    const answer = await order({ model: 'gpt-image-1', size: '1024x1024', quality: 'low' });
    expect(await line(answer)).toMatchObject({ usage_source: 'disbelieved', usage: { imageOutput: 672 } });
  });

  test.each<[JsonObject, string, string]>([
    [{ model: ['dall-e-2', 'dall-e-3'] }, 'model', 'model must be a text, given once'],
    [{ model: 'gpt-image-1', prompt: ' ' }, 'prompt', 'field prompt is required'],
    [{ model: 'gpt-image-1', n: -1 }, 'n', 'n must be a whole number from 1 to 10'],
    [{ model: 'gpt-image-1', n: 11 }, 'n', 'n must be a whole number from 1 to 10'],
    [{ model: 'gpt-image-1', size: '1024×1024' }, 'size', 'size must be auto, or a width and a height'],
    [{ model: 'gpt-image-1', quality: ['hd'] }, 'quality', 'quality must be a text, given once'],
    [{ model: 'gpt-image-1', output_format: 'svg' }, 'output_format', 'output_format must be one of png, jpeg, webp'],
    [{ model: 'gpt-image-1', response_format: 'url' }, 'response_format', 'response_format must be b64_json'],
    [{ model: 'gpt-image-1', stream: true, n: 2 }, 'n', 'n must be 1 with stream: true'],
    [{ model: 'gpt-image-1', batch_size: 4 }, 'batch_size', 'field batch_size is not carried'],
    [{ model: 'by-size', size: '640x480' }, '', 'has no price for pictures of size 640x480 and quality auto'],
  ])('are refused with %j by the member that is wrong', async (body, param, message) => {
    const answer = await order(body);
    expect(answer.status).toBe(400);
    const { message: said, param: named } = errorIn(answer);
    expect([said.includes(message) ? message : said, named ?? '']).toEqual([message, param]);
    expect(sent).toEqual([]);
  });

  test('have their size and quality in the line of the log', async () => {
    const answer = await order({ model: 'dall-e-3', size: '1024x1792', quality: 'hd' });
    const entry = await line(answer);
    const words = logContent(entry, { inCurrency: true, quotaPerUnit: 500_000 });
    expect(words).toBe('模型价格 0.120，分组倍率 1.00，大小 1024x1792，品质 hd');
    expect(JSON.parse(otherForUser(entry))).toMatchObject({
      model_price: 0.12,
      image_size: '1024x1792',
      image_count: 1,
    });
  });

  test('of many bytes pass as they came, and with the usage that is charged where that is another', async () => {
    const large = 'A'.repeat(3_000_000);
    reported = { ...made, data: [{ b64_json: large }] };
    expect((await order({ model: 'gpt-image-1', size: '1024x1024' })).text).toBe(JSON.stringify(reported));
    reported = { created: 1, data: [{ b64_json: large }] };
    const { data, usage: charged } = JSON.parse((await order({ model: 'gpt-image-1', size: '1024x1024' })).text);
    expect([data[0].b64_json === large, charged.output_tokens]).toEqual([true, 4_160]);
  });

  test('of xAI are ordered by shape, and changed by pictures in JSON', async () => {
    reported = { data: [{ url: 'https://pictures.example/1.jpg' }] };
    const answer = await order({ model: 'grok-imagine-image', size: '1792x1024', n: 1 });
    expect(JSON.parse(answer.text)).toEqual({ created: expect.any(Number), ...reported });
    const image = await toFile(png, 'boat.png', { type: 'image/png' });
    await client.images.edit({ model: 'grok-imagine-image', prompt: 'A boat.', image });
    expect(sent.map(({ url, body }) => [url, JSON.parse(body)])).toEqual([
      [generations, { model: 'grok-imagine-image', prompt: 'A boat.', n: 1, aspect_ratio: '16:9', resolution: '2k' }],
      [
        edits,
        {
          ...{ model: 'grok-imagine-image', prompt: 'A boat.', n: 1 },
          image: { url: `data:image/png;base64,${base64}`, type: 'image_url' },
        },
      ],
    ]);
    // Twice 0.02 USD.
    expect(await gateway.available(user)).toBe(balance - 20_000);
    const refused = await order({ model: 'grok-imagine-image', background: 'transparent' });
    expect([refused.status, errorIn(refused).message]).toEqual([
      400,
      expect.stringContaining('background is not taken'),
    ]);
  });

  test.each([
    [401, 'wrong key', 500],
    [429, 'too many', 429],
    [500, 'broken', 500],
  ])('cost nothing where upstream answers %d', async (refusal, message, seen) => {
    status = refusal;
    reported = { error: { message, type: 'server_error' } };
    const answer = await order({ model: 'dall-e-3' });
    expect(answer.status >= 400 && answer.status <= seen + 99).toBe(true);
    expect(await gateway.available(user)).toBe(balance);
  });

  test('are not ordered by tests of channels, which say so', async () => {
    const admin = await new GraphqlClient(gateway.url).signIn('root', gateway.rootPassword);
    const ask = 'mutation ($id: ID!, $model: String) { testChannel(id: $id, model: $model) { ok message } }';
    const message = (model: string) =>
      `model ${model} makes pictures: a test would order one; test the channel by another model`;
    for (const [id, model] of [
      [drawing, 'gpt-image-1'],
      [atAddress, 'my-pictures'],
    ]) {
      const { testChannel } = await admin.ask(ask, { id, model });
      expect(testChannel).toEqual({ ok: false, message: message(String(model)) });
    }
    expect(sent).toEqual([]);
  });

  test('are made by a channel whose address is that of the endpoint', async () => {
    const answer = await order({ model: 'my-pictures', size: '1024x1024' });
    expect([answer.status, sent.map(({ url }) => url)]).toEqual([200, ['/own/v1/images/generations']]);
    // 0.0025 USD × 2
    expect(await line(answer)).toMatchObject({ quota: 2_500 });
    expect((await order({ model: 'my-pictures', image: 'https://pictures.example/1.png' }, edits)).status).toBe(400);
  });

  test('are refused by a channel whose provider makes none', async () => {
    const answer = await order({ model: 'talks-only' });
    expect([answer.status, errorIn(answer).code]).toEqual([400, 'convert_request_failed']);
  });

  test('never cost more than there is, however many are ordered at once', async () => {
    const poor = await gateway.addUser(50_000);
    const key = callers.with(await gateway.addApiKey(poor));
    reported = { created: 1, data: [{ url: 'https://pictures.example/1.png' }] };
    const answers = await Promise.all(Array.from({ length: 40 }, () => order({ model: 'dall-e-3' }, generations, key)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(await gateway.available(poor)).toBe(10_000);
  });
});

describe('pictures that are changed', () => {
  const image = () => toFile(png, 'boat.png', { type: 'image/png' });

  test('go upstream as a form, several of them with a mask, and cost what is reported', async () => {
    const answer = await client.images.edit({
      ...{ model: 'gpt-image-1', prompt: 'A larger boat.', size: '1024x1024', quality: 'high' },
      ...{ image: [await image(), await image()], mask: await image() },
    });
    expect(answer.data?.[0]?.b64_json).toBe(base64);
    const [{ url, body, type } = { url: '', body: '', type: '' }] = sent;
    expect([url, type.startsWith('multipart/form-data')]).toEqual([edits, true]);
    expect(body.match(/ name="[^"]+"/g)?.sort()).toEqual(
      ['image[]', 'image[]', 'mask', 'model', 'prompt', 'quality', 'size'].map((name) => ` name="${name}"`).sort(),
    );
    expect(await gateway.available(user)).toBe(balance - 83_600);
  });

  test('may be named by their address in JSON', async () => {
    const images = [{ image_url: `data:image/png;base64,${base64}` }, { image_url: 'https://pictures.example/1.png' }];
    const answer = await order({ model: 'gpt-image-1', images }, edits);
    expect(answer.status).toBe(200);
    expect(JSON.parse(sent[0]?.body ?? '').images).toEqual(images);
  });

  test.each<[string, JsonObject, string]>([
    ['no picture', {}, 'field image is required'],
    ['the id of a file', { images: [{ file_id: 'file-1' }] }, 'images[0] must be given as image_url'],
    ['another scheme', { image: 'file:///etc/passwd' }, 'image must be an http(s) address'],
    ['too many', { images: Array.from({ length: 17 }, () => 'https://a.example/1.png') }, 'at most 16 pictures'],
  ])('are refused with %s', async (_name, body, message) => {
    const answer = await order({ model: 'gpt-image-1', ...body }, edits);
    expect([answer.status, errorIn(answer).message]).toEqual([400, expect.stringContaining(message)]);
  });

  const boundary = 'b'.repeat(20);
  const part = (disposition: string, content: Buffer | string) => [
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n`),
    Buffer.from(disposition.includes('filename') ? 'content-type: image/png\r\n\r\n' : '\r\n'),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ];
  const form = (...parts: readonly Buffer[][]) => Buffer.concat([...parts.flat(), Buffer.from(`--${boundary}--\r\n`)]);
  const picture = part('name="image"; filename="a.png"', png);
  const fields = [part('name="model"', 'gpt-image-1'), part('name="prompt"', 'A boat.')];

  test.each<[string, Buffer, string, string]>([
    ['a doubled field', form(...fields, part('name="n"', '1'), part('name="n"', '9'), picture), boundary, 'n must be'],
    ['a field with brackets', form(...fields, part('name="n[]"', '9'), picture), boundary, 'field n[] is not carried'],
    [
      'a file that is no picture',
      form(...fields, part('name="image"; filename="a"', 'x')),
      boundary,
      'image must be a picture',
    ],
    ['a file of another name', form(...fields, part('name="file"; filename="a"', png)), boundary, 'files of the form'],
    ['a thousand parts', form(...Array.from({ length: 1_000 }, () => picture)), boundary, 'the form has'],
    ['a wrong boundary', form(...fields, picture), 'other', 'is not a form, or ends before'],
  ])('are refused in a form with %s', async (_name, body, named, message) => {
    const answer = await caller.send(edits, {
      ...{ method: 'POST', headers: { 'content-type': `multipart/form-data; boundary=${named}` }, body },
    });
    expect([answer.status, errorIn(answer).message]).toEqual([400, expect.stringContaining(message)]);
    expect(sent).toEqual([]);
  });
});

describe('a picture that is sent while it is made', () => {
  const partial = (index: number, type = 'image_generation'): JsonObject => ({
    ...{ type: `${type}.partial_image`, b64_json: base64, partial_image_index: index },
  });
  const completed = (type = 'image_generation'): JsonObject => ({
    ...{ type: `${type}.completed`, b64_json: base64, created_at: 1, usage },
  });

  test('comes event by event to the official client, and costs what the last event reports', async () => {
    events = [partial(0), partial(1), completed()];
    const types: string[] = [];
    const stream = await client.images.generate({
      ...{ model: 'gpt-image-1', prompt: 'A boat.', partial_images: 2, stream: true },
    });
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(events.map(({ type }) => type));
    expect(await gateway.available(user)).toBe(balance - 83_600);
  });

  test('comes so when one is changed by a form, too', async () => {
    events = [partial(0, 'image_edit'), completed('image_edit')];
    const types: string[] = [];
    const image = await toFile(png, 'boat.png', { type: 'image/png' });
    const stream = await client.images.edit({
      ...{ model: 'gpt-image-1', prompt: 'A boat.', partial_images: 1, stream: true, image },
    });
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(['image_edit.partial_image', 'image_edit.completed']);
    expect(await gateway.available(user)).toBe(balance - 83_600);
  });

  test('comes as its last event alone from an upstream that has no streams of pictures', async () => {
    const answer = await order({ model: 'gpt-image-1', stream: true });
    expect(answer.headers['content-type']).toContain('text/event-stream');
    expect(answer.text).toContain('event: image_generation.completed\n');
    expect(await line(answer)).toMatchObject({ quota: 83_600 });
  });

  test('costs all of it where its caller leaves before it is finished', async () => {
    events = [partial(0)];
    holds = true;
    const answer = await caller.send(generations, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: { model: 'gpt-image-1', prompt: 'A boat.', stream: true, partial_images: 1 },
      enough: (text) => text.includes('partial_image'),
    });
    finish(completed());
    expect(await line(answer)).toMatchObject({ quota: 83_600, usage: { imageOutput: 4_160, images: 1 } });
  });

  test('costs what has come of it where upstream breaks off', async () => {
    events = [partial(0), partial(1)];
    const answer = await order({ model: 'gpt-image-1', stream: true, partial_images: 2 });
    expect(answer.text).toContain('"error"');
    expect(await line(answer)).toMatchObject({ usage: { imageOutput: 200 } });
  });
});

test('each of these calls has a receipt that gives its charge', async () => {
  const { served, wrong } = await receiptsOfAll(gateway);
  expect(served).toBeGreaterThan(5);
  expect(wrong).toEqual([]);
});
