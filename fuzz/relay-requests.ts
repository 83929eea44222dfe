import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { fuzzModels } from './hostile-upstream.js';
import type { FuzzRequest } from './request.js';
import { hostileText, hostileValue, mostly } from './values.js';

/* Calls with an API key: the dialect's members in every type, and bodies that are none. */

const content: fc.Arbitrary<unknown> = fc.oneof(
  fc.constant('Hello.'),
  hostileText,
  fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('text'), text: mostly(fc.constant('Hello.')) }),
      fc.record({ type: fc.constant('image_url'), image_url: mostly(fc.record({ url: hostileText })) }),
      fc.record({ type: fc.constant('input_audio'), input_audio: mostly(fc.record({ data: hostileText })) }),
      fc.record({ type: fc.constant('file'), file: mostly(fc.record({ file_data: hostileText })) }),
      hostileValue,
    ),
    { maxLength: 4 },
  ),
);

const message: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record(
      {
        role: mostly(fc.constantFrom('user', 'system', 'assistant', 'tool')),
        content,
        name: hostileText,
        tool_calls: hostileValue,
        reasoning_content: hostileText,
      },
      { requiredKeys: ['role', 'content'] },
    ),
  },
  { weight: 1, arbitrary: hostileValue },
);

const limit = mostly(fc.integer({ min: 0, max: 100_000 }));

/** Members of all three endpoints together: what does not belong must do no harm. */
const body: fc.Arbitrary<unknown> = fc.record(
  {
    model: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...fuzzModels) },
      { weight: 1, arbitrary: hostileText },
      { weight: 1, arbitrary: hostileValue },
    ),
    messages: fc.oneof({ weight: 8, arbitrary: fc.array(message, { minLength: 1, maxLength: 4 }) }, hostileValue),
    prompt: fc.oneof(fc.constant('Hello.'), hostileValue),
    input: fc.oneof(fc.constant('Hello.'), hostileValue),
    stream: mostly(fc.boolean()),
    stream_options: mostly(fc.record({ include_usage: fc.boolean() })),
    max_tokens: limit,
    max_completion_tokens: limit,
    n: mostly(fc.integer({ min: 1, max: 4 })),
    best_of: mostly(fc.integer({ min: 1, max: 4 })),
    temperature: hostileValue,
    stop: hostileValue,
    tools: hostileValue,
    functions: hostileValue,
    response_format: hostileValue,
    reasoning_effort: mostly(fc.constantFrom('low', 'high')),
    user: hostileText,
  },
  { requiredKeys: ['model', 'messages', 'prompt', 'input'] },
);

/** Nothing is wrong with it: what is odd is its upstream. */
const goodBody: fc.Arbitrary<unknown> = fc.record(
  {
    model: fc.constantFrom(...fuzzModels),
    messages: fc.constant([{ role: 'user', content: 'Hello.' }]),
    prompt: fc.constantFrom<unknown>('Hello.', ['Hello.', 'And you?']),
    input: fc.constantFrom<unknown>('Hello.', ['Hello.'], [1, 2, 3]),
    stream: fc.boolean(),
    stream_options: fc.record({ include_usage: fc.boolean() }),
    max_tokens: fc.integer({ min: 1, max: 5_000 }),
    n: fc.integer({ min: 1, max: 3 }),
  },
  { requiredKeys: ['model', 'messages', 'prompt', 'input'] },
);

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? '');

type Sent = { readonly body: Buffer | null; readonly headers: Record<string, string> };

const deep = (depth: number): Buffer =>
  Buffer.from(
    `{"model":"fuzz-honest","messages":[{"role":"user","content":${'['.repeat(depth)}${']'.repeat(depth)}}]}`,
  );

const sent: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 20, arbitrary: goodBody.map((value) => ({ body: bytes(value), headers: {} })) },
  {
    weight: 20,
    arbitrary: body.map((value) => ({ body: bytes(value), headers: { 'content-type': 'application/json' } })),
  },
  {
    weight: 1,
    arbitrary: body.map((value) => ({ body: gzipSync(bytes(value)), headers: { 'content-encoding': 'gzip' } })),
  },
  {
    weight: 1,
    arbitrary: body.map((value) => ({ body: deflateSync(bytes(value)), headers: { 'content-encoding': 'deflate' } })),
  },
  { weight: 1, arbitrary: body.map((value) => ({ body: bytes(value), headers: { 'content-encoding': 'br' } })) },
  {
    weight: 1,
    // A bomb: a thousand times its size.
    arbitrary: fc.constant({ body: gzipSync(Buffer.alloc(8_000_000)), headers: { 'content-encoding': 'gzip' } }),
  },
  { weight: 1, arbitrary: fc.constantFrom(500, 100_000).map((depth) => ({ body: deep(depth), headers: {} })) },
  { weight: 1, arbitrary: hostileValue.map((value) => ({ body: bytes(value), headers: {} })) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((raw) => ({ body: Buffer.from(raw), headers: {} })) },
  { weight: 1, arbitrary: fc.constant({ body: null, headers: {} }) },
);

const calls = ['/v1/chat/completions', '/v1/chat/completions', '/v1/completions', '/v1/embeddings'] as const;
const others = [
  '/v1/models',
  '/v1/models/gpt-4o',
  '/v1/images/generations',
  '/v1/files',
  '/v1/',
  '/v1/nothing',
] as const;

const odd: fc.Arbitrary<Record<string, string>> = fc.constantFrom<Record<string, string>>(
  {},
  {},
  {},
  { accept: 'text/event-stream' },
  { 'x-api-key': 'sk-nothing', 'anthropic-version': '2023-06-01' },
  { 'x-goog-api-key': 'x' },
  { authorization: 'Bearer' },
  { authorization: `Bearer sk-${'x'.repeat(48)}` },
  { authorization: `Bearer sk-${'x'.repeat(4_000)}` },
  { expect: '100-continue' },
);

export const relayRequests: fc.Arbitrary<FuzzRequest> = fc
  .record({
    call: fc.oneof(
      { weight: 8, arbitrary: fc.record({ method: fc.constant('POST'), path: fc.constantFrom(...calls) }) },
      {
        weight: 1,
        arbitrary: fc.record({
          method: fc.constantFrom('GET', 'POST', 'DELETE', 'OPTIONS', 'PUT'),
          path: fc.constantFrom(...others),
        }),
      },
    ),
    query: fc.constantFrom('', '', '?key=x', '?%', '?a=1&a=2'),
    as: fc.constantFrom('nobody', 'ordinary', 'ordinary', 'ordinary', 'root') as fc.Arbitrary<FuzzRequest['as']>,
    sent,
    odd,
  })
  .map(({ call, query, as, sent: { body: payload, headers }, odd: more }) => ({
    face: 'relay',
    ...call,
    path: call.path + query,
    as,
    headers: { ...headers, ...more },
    body: call.method === 'GET' ? null : payload,
  }));

/** Calls by the session of a browser; some lack what a page of another site could not send. */
export const playgroundRequests: fc.Arbitrary<FuzzRequest> = fc
  .record({
    method: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'GET', 'PUT'),
    query: fc.constantFrom('', '', '?group=vip', '?%'),
    as: fc.constantFrom('nobody', 'ordinary', 'ordinary', 'ordinary', 'root') as fc.Arbitrary<FuzzRequest['as']>,
    sent,
    odd: fc.constantFrom<Record<string, string>>(
      ...[{}, {}, {}, { 'content-type': 'text/plain' }, { origin: 'https://elsewhere.example' }],
      ...[{ 'new-api-user': '-1' }, { cookie: 'session=' }, { authorization: `Bearer sk-${'x'.repeat(48)}` }],
    ),
  })
  .map(({ method, query, as, sent: { body: payload, headers }, odd: more }) => ({
    face: 'playground',
    method,
    path: `/pg/chat/completions${query}`,
    as,
    headers: { 'content-type': 'application/json', ...headers, ...more },
    body: method === 'GET' ? null : payload,
  }));
