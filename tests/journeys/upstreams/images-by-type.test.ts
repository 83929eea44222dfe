import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isObject, type JsonObject } from '../../../src/relay/json/json.js';
import { type Answer, type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/upstreams/upstream.js';

/* Vendors that have words of their own for pictures, each as it answers, refuses or breaks off: what is got, and what is paid. */

type Course = 'answers' | 401 | 429 | 500 | 'cut';

interface Vendor {
  readonly type: number;
  readonly model: string;
  /** Below the channel's base URL. */
  readonly path: string;
  readonly other?: string;
  readonly said: JsonObject;
  readonly refusal?: JsonObject;
  /** What each picture is in the answer. */
  readonly picture: JsonObject;
}

const balance = 10_000_000;
const key = 'sk-of-the-operator-0123456789';
/** Public, so it is asked for; nobody answers, so it stays. */
const address = 'http://127.0.0.1:9/1.png';
const byAddress = { picture: { url: address } };
const inBase64 = { picture: { b64_json: 'AAAA' } };
const openAi = { error: { message: `Not now, ${key}.`, code: '1', type: 'refused' } };
const google = { error: { code: 400, message: `Not now, ${key}.`, status: 'REFUSED' } };

const vendors: readonly Vendor[] = [
  {
    ...{ type: 17, model: 'qwen-image-plus', path: '/api/v1/services/aigc/multimodal-generation/generation' },
    said: { output: { choices: [{ message: { content: [{ image: address }] } }] } },
    refusal: { code: 'Refused', message: `Not now, ${key}.` },
    ...byAddress,
  },
  {
    type: 26,
    model: 'cogview-4',
    path: '/api/paas/v4/images/generations',
    said: { data: [{ url: address }] },
    ...byAddress,
  },
  {
    type: 40,
    model: 'Kwai-Kolors/Kolors',
    path: '/v1/images/generations',
    said: { images: [{ url: address }] },
    ...byAddress,
  },
  {
    ...{ type: 45, model: 'doubao-seedream-4-0-250828', path: '/api/v3/images/generations' },
    ...{ said: { data: [{ url: address }], usage: { generated_images: 1, output_tokens: 16_384 } }, ...byAddress },
  },
  { type: 46, model: 'irag-1.0', path: '/v2/images/generations', said: { data: [{ url: address }] }, ...byAddress },
  {
    type: 47,
    model: 'sdxl',
    path: '/v1/images/generations',
    said: { data: [{ b64_json: 'AAAA', url: null }] },
    ...inBase64,
  },
  {
    ...{ type: 39, model: '@cf/a/b', other: 'account', path: '/client/v4/accounts/account/ai/run/@cf/a/b' },
    ...{ said: { success: true, result: { image: 'AAAA' } }, ...inBase64 },
  },
  {
    ...{ type: 24, model: 'imagen-4.0-generate-001', path: '/v1beta/models/imagen-4.0-generate-001:predict' },
    ...{ said: { predictions: [{ bytesBase64Encoded: 'AAAA' }] }, refusal: google, ...inBase64 },
  },
  {
    ...{ type: 24, model: 'gemini-by-piece-image', path: '/v1beta/models/gemini-by-piece-image:generateContent' },
    said: { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] } }] },
    ...{ refusal: google, ...inBase64 },
  },
];

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
let user: TestUser;
let caller: Caller;
let course: Course;
let faults: string[];
/** What the order of DashScope's is answered with, and then each question. */
let ordered: { readonly status: number; readonly output: JsonObject }[];
let questions: UpstreamCall[];

const place = (at: number): string => `/vendor-${at}`;

function serveOrder(call: UpstreamCall, response: ServerResponse): void {
  questions.push(call);
  const { status, output } = ordered[questions.length - 1] ?? ordered.at(-1) ?? { status: 500, output: {} };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ output }));
}

function serve(call: UpstreamCall, response: ServerResponse): void {
  if (call.url.startsWith('/orders')) {
    serveOrder(call, response);
    return;
  }
  const at = vendors.findIndex((_, number) => call.url.startsWith(`${place(number)}/`));
  const vendor = vendors[at];
  if (vendor === undefined) {
    response.writeHead(404).end();
    return;
  }
  const shown = call.headers.authorization ?? `Bearer ${call.headers['x-goog-api-key']}`;
  if (call.url !== place(at) + vendor.path || shown !== `Bearer ${key}`) faults.push(call.url);
  if (typeof course === 'number') {
    response.writeHead(course, { 'content-type': 'application/json' }).end(JSON.stringify(vendor.refusal ?? openAi));
    return;
  }
  if (course === 'answers') {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(vendor.said));
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"', () => response.destroy());
}

beforeAll(async () => {
  upstream = await startUpstream(serve);
  gateway = await startTestGateway({ RELAY_TIMEOUT: '4' });
  callers = openCallers(gateway.url);
  for (const [at, { type, model, other = '' }] of vendors.entries()) {
    await gateway.addChannel({ type, models: [model], baseUrl: upstream.url + place(at), key, other, autoBan: false });
    // 5,000 of quota for each picture.
    await gateway.setPrice(model, [{ pieces: { images: '0.01' } }]);
  }
  // With the version that every path below it begins with.
  const baseUrl = `${upstream.url}/orders/api/v1`;
  await gateway.addChannel({ type: 17, models: ['wan2.5-t2i-preview'], baseUrl, key, autoBan: false });
  await gateway.setPrice('wan2.5-t2i-preview', [{ pieces: { images: '0.01' } }]);
  await gateway.setOption('RetryTimes', '0');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  user = await gateway.addUser(balance);
  caller = callers.with(await gateway.addApiKey(user));
  faults = [];
  questions = [];
  course = 'answers';
});

const order = (model: string, body: JsonObject = {}): Promise<Answer> =>
  caller.send('/v1/images/generations', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { model, prompt: 'A cat.', ...body },
  });

async function everyone<Seen>(seen: (answer: Answer, vendor: Vendor) => Seen | Promise<Seen>, body: JsonObject = {}) {
  const all = await Promise.all(
    vendors.map(async (vendor) => [vendor.model, await seen(await order(vendor.model, body), vendor)] as const),
  );
  expect(faults).toEqual([]);
  return Object.fromEntries(all);
}
const alike = (expected: unknown) => Object.fromEntries(vendors.map(({ model }) => [model, expected]));
const left = (expected: number) => until(async () => ((await gateway.available(user)) === expected ? true : null));

describe('every vendor with words of its own for pictures', () => {
  test('is requested in these, answers in OpenAI’s, and is charged by the picture', async () => {
    const seen = await everyone(async (answer, { picture }) => {
      const said: JsonObject = JSON.parse(answer.text);
      expect(said).toMatchObject({ data: [picture] });
      const { quota, usage } = await lineOf(gateway, user, answer);
      return [answer.status, quota, isObject(usage) && usage.images];
    });
    expect(seen).toEqual(alike([200, 5_000, 1]));
    await left(balance - 5_000 * vendors.length);
  });

  test('streams one event, and keeps an address that cannot be fetched in it', async () => {
    const seen = await everyone(
      async (answer, { picture }) => {
        const [, event = '{}'] = /^event: image_generation\.completed\ndata: (.*)\n\n$/.exec(answer.text) ?? [];
        expect(JSON.parse(event)).toMatchObject({ type: 'image_generation.completed', ...picture });
        return [answer.status, (await lineOf(gateway, user, answer)).quota];
      },
      { stream: true },
    );
    expect(seen).toEqual(alike([200, 5_000]));
  });

  test.each([401, 429, 500] as const)(
    'has its refusal with status %i passed on, free of charge and without its key',
    async (status) => {
      course = status;
      const seen = await everyone((answer) => [
        answer.status,
        errorIn(answer).message !== '',
        answer.text.includes(key),
      ]);
      expect(seen).toEqual(alike([status === 401 ? 502 : status, true, false]));
      await left(balance);
    },
  );

  test('costs nothing where it breaks off', async () => {
    course = 'cut';
    expect(await everyone((answer) => [answer.status >= 500, answer.text.includes(key)])).toEqual(alike([true, false]));
    await left(balance);
  });
});

describe('an order that is taken upstream', () => {
  const taken = { status: 200, output: { task_id: 'task-1', task_status: 'PENDING' } };
  const done = { status: 200, output: { task_id: 'task-1', task_status: 'SUCCEEDED', results: [{ url: address }] } };

  test('is requested until it is done, though a request fails in between, and is charged once', async () => {
    ordered = [taken, { status: 500, output: {} }, done];
    const answer = await order('wan2.5-t2i-preview');
    expect(JSON.parse(answer.text).data).toEqual([{ url: address }]);
    expect(questions.map(({ url }) => url)).toEqual([
      '/orders/api/v1/services/aigc/text2image/image-synthesis',
      '/orders/api/v1/tasks/task-1',
      '/orders/api/v1/tasks/task-1',
    ]);
    expect(questions.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill(`Bearer ${key}`));
    expect((await lineOf(gateway, user, answer)).quota).toBe(5_000);
  });

  test('costs nothing once it has failed, and its reason is passed on without the key', async () => {
    ordered = [
      taken,
      { status: 200, output: { task_status: 'FAILED', code: 'DataInspectionFailed', message: `No, ${key}.` } },
    ];
    const answer = await order('wan2.5-t2i-preview');
    expect([answer.status, errorIn(answer).code, answer.text.includes(key)]).toEqual([
      400,
      'DataInspectionFailed',
      false,
    ]);
    await left(balance);
  });

  test('is waited for no longer than other answers, and its caller pays nothing for what never came', async () => {
    ordered = [taken];
    const answer = await order('wan2.5-t2i-preview');
    expect([answer.status, errorIn(answer).message]).toEqual([
      500,
      expect.stringContaining('has not finished in time'),
    ]);
    expect(questions.length).toBe(3);
    await left(balance);
  });
});
