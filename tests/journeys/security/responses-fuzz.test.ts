import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jsonOf, randomOf, spoilt } from '../../../fuzz/dialects/odd-json.js';
import { encoded, hostileText, hostileValue, mostly } from '../../../fuzz/values.js';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { type Answer, type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { messageItem, reportedUsage, responseOf, streamOf } from '../../support/upstreams/responses-answers.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/*
 * Any body and any query at the endpoints of the Responses interface, with an upstream that answers everything well: what
 * fails fails here, and as the interface fails. `seed` repeats a run.
 */

const seed = 41;
const requests = 500;
const quota = 1_000_000_000;

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
let user: TestUser;
let caller: Caller;
let conversation: string;
let response: string;

const kinds = [
  ...[
    'message',
    'reasoning',
    'function_call',
    'function_call_output',
    'item_reference',
    'compaction',
    'custom_tool_call',
  ],
  ...['web_search_call', 'code_interpreter_call', 'shell_call', 'mcp_approval_response', 'additional_tools', 'someday'],
];
const part = fc.record({
  type: fc.constantFrom('input_text', 'output_text', 'input_image', 'input_file'),
  text: hostileText,
});
const item = fc.record(
  {
    type: mostly(fc.constantFrom(...kinds)),
    role: mostly(fc.constantFrom('user', 'assistant', 'system', 'developer')),
    content: fc.oneof(hostileText, fc.array(mostly(part), { maxLength: 3 }), hostileValue),
    id: hostileText,
    call_id: hostileText,
    name: hostileText,
    arguments: hostileText,
    output: fc.oneof(hostileText, fc.array(mostly(part), { maxLength: 2 }), hostileValue),
    summary: hostileValue,
    encrypted_content: hostileValue,
    environment: hostileValue,
    tools: hostileValue,
    approval_request_id: hostileValue,
  },
  { requiredKeys: [] },
);
const tool = fc.record(
  {
    type: mostly(fc.constantFrom('function', 'custom', 'namespace', 'web_search', 'mcp', 'code_interpreter', 'shell')),
    name: hostileText,
    parameters: hostileValue,
    container: hostileValue,
    environment: hostileValue,
    tools: hostileValue,
  },
  { requiredKeys: [] },
);
const list = (one: fc.Arbitrary<unknown>) => mostly(fc.array(mostly(one), { maxLength: 4 }));
/** Of every endpoint together: what does not belong must do no harm. */
const body = fc.record(
  {
    model: fc.oneof({ weight: 12, arbitrary: fc.constantFrom('m', 'chat') }, hostileValue),
    input: fc.oneof(
      { weight: 3, arbitrary: fc.constant('Hello.') },
      { weight: 4, arbitrary: list(item) },
      hostileValue,
    ),
    items: list(item),
    metadata: hostileValue,
    instructions: hostileValue,
    tools: list(tool),
    tool_choice: hostileValue,
    stream: mostly(fc.boolean()),
    store: mostly(fc.boolean()),
    background: mostly(fc.constant(false)),
    include: hostileValue,
    max_output_tokens: hostileValue,
    previous_response_id: hostileValue,
    conversation: hostileValue,
    prompt: hostileValue,
    prompt_cache_options: hostileValue,
    reasoning: hostileValue,
    text: hostileValue,
    service_tier: hostileValue,
    temperature: hostileValue,
  },
  { requiredKeys: ['model', 'input'] },
);
const right: JsonObject = {
  model: 'm',
  input: [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look.' }] },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAABsealed' },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'Seen.' },
  ],
  items: [{ type: 'message', role: 'user', content: 'Hello.' }],
  tools: [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }],
  text: { format: { type: 'json_schema', name: 'f', schema: { type: 'object' } }, verbosity: 'low' },
  reasoning: { effort: 'low', summary: 'auto' },
  max_output_tokens: 100,
};
/** As text: digits and repeated names that no object holds are among them. */
const bodyText = fc.oneof(
  { weight: 4, arbitrary: body.map((value) => jsonOf(value)) },
  {
    weight: 4,
    arbitrary: fc
      .record({ of: fc.nat(), times: fc.integer({ min: 1, max: 3 }) })
      .map(({ of, times }) => jsonOf(spoilt(right, randomOf(of), times))),
  },
  { weight: 1, arbitrary: hostileValue.map((value) => jsonOf(value)) },
  { weight: 1, arbitrary: hostileText },
);
const names = [
  'include',
  'include[]',
  'stream',
  'starting_after',
  'after',
  'before',
  'limit',
  'order',
  'someday',
  'key',
];
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom(...names),
      hostileText.map((text) => text.slice(0, 2_000)),
    ),
    { maxLength: 4 },
  )
  .map((members) => members.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&'));
const id = fc.oneof(
  { weight: 3, arbitrary: fc.constant('own') },
  hostileText.map((text) => encoded(text.slice(0, 300)) || '%20'),
);

const posts = [
  '/v1/responses',
  '/v1/responses',
  '/v1/responses/compact',
  '/v1/responses/input_tokens',
  '/v1/conversations',
];
const request = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      method: fc.constant('POST'),
      path: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...posts) },
        id.map((one) => `/v1/conversations/${one}`),
        id.map((one) => `/v1/conversations/${one}/items`),
      ),
      query: fc.constant(''),
      text: bodyText.map((text): string | null => text),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      method: fc.constantFrom('GET', 'GET', 'DELETE', 'POST'),
      path: fc.oneof(
        fc
          .tuple(id, fc.constantFrom('', '/input_items', '/cancel'))
          .map(([one, rest]) => `/v1/responses/${one}${rest}`),
        fc.tuple(id, fc.constantFrom('', '/items')).map(([one, rest]) => `/v1/conversations/${one}${rest}`),
        fc.tuple(id, id).map(([one, other]) => `/v1/conversations/${one}/items/${other}`),
      ),
      query,
      text: fc.constant(null),
    }),
  },
);

const ownIn = (path: string): string =>
  path
    .replace('/conversations/own', `/conversations/${conversation}`)
    .replace('/responses/own', `/responses/${response}`);

/** Of any part of the inside. */
const inside = /\bat [\w.<>]+ \(|node_modules|\/src\/\w+|sk-upstream-key|internal error/;

/** null: nothing is wrong with it. */
function faultOf({ status, headers, text }: Answer): string | null {
  if (inside.test(text)) return 'shows something of the inside';
  if (status >= 500 && status !== 501) return 'is a failure of ours';
  if (status < 400) return null;
  if (!String(headers['content-type']).startsWith('application/json')) return 'is no JSON';
  const answer = parseJson(text);
  const error = isObject(answer) ? answer.error : null;
  if (!isObject(error)) return 'has no error';
  const texts = typeof error.message === 'string' && error.message !== '' && typeof error.type === 'string';
  const param = error.param === null || typeof error.param === 'string';
  return texts && param && 'code' in error ? null : 'is not in the form of the interface';
}

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  const made = responseOf([messageItem('Hello.')], { usage: reportedUsage(20, 10) });
  let count = 0;
  upstream = await startUpstream(({ url, body: sent }, answer) => {
    const path = url.split('?')[0] ?? '';
    const asked = parseJson(sent);
    const json = (value: object) =>
      void answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (path.endsWith('/chat/completions')) {
      const message = { role: 'assistant', content: 'Hello.' };
      const choices = [{ index: 0, message, delta: message, finish_reason: 'stop' }];
      const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
      const whole = { id: 'c', object: 'chat.completion', created: 1, model: 'chat', choices, usage };
      if (!isObject(asked) || asked.stream !== true) return json(whole);
      return void answer
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`data: ${JSON.stringify(whole)}\n\ndata: [DONE]\n\n`);
    }
    if (path.endsWith('/input_tokens')) return json({ object: 'response.input_tokens', input_tokens: 17 });
    if (path.startsWith('/v1/conversations')) return json({ id: `conv_fuzz_${++count}`, object: 'conversation' });
    const own = { ...made, id: `resp_fuzz_${++count}` };
    if (isObject(asked) && asked.stream === true)
      return void answer.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamOf(own));
    json(own);
  });
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, '{"m":1,"chat":1}');
  await gateway.addChannel({ type: 1, models: ['m'], baseUrl: upstream.url, autoBan: false });
  await gateway.addChannel({ type: 1, models: ['chat'], baseUrl: upstream.url, setting: '{"chat_only":true}' });
  user = await gateway.addUser(quota);
  caller = callers.with(await gateway.addApiKey(user));
  const post = async (path: string, sent: JsonObject) => {
    const headers = { 'content-type': 'application/json' };
    return parseJson((await caller.send(path, { method: 'POST', headers, body: sent })).text) as JsonObject;
  };
  conversation = String((await post('/v1/conversations', {})).id);
  response = String((await post('/v1/responses', { model: 'm', input: 'Hello.' })).id);
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});

test('hostile bodies and queries at the endpoints of Responses are answered or refused in its form, and leave nothing reserved', async () => {
  const faults: string[] = [];
  const seen = new Map<number, number>();
  const all = fc.sample(request, { seed, numRuns: requests });
  const send = async (at: number) => {
    const { method, path, query: asked, text } = all[at] ?? { method: 'GET', path: '/', query: '', text: null };
    const url = ownIn(path) + (asked === '' ? '' : `?${asked}`);
    const headers = { 'content-type': 'application/json' };
    const got = await caller.send(url, { method, headers, ...(text !== null && { body: text }) });
    seen.set(got.status, (seen.get(got.status) ?? 0) + 1);
    const fault = faultOf(got);
    if (fault === null) return;
    const shown = `${text ?? ''}`.slice(0, 300);
    faults.push(`${at} ${method} ${url.slice(0, 200)} ${shown}: ${got.status} ${fault}: ${got.text.slice(0, 300)}`);
  };
  const rest = all.keys();
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (const at of rest) await send(at);
    }),
  );
  expect(faults).toEqual([]);
  // Neither all refused nor all served.
  expect(seen.get(200) ?? 0).toBeGreaterThan(requests / 20);
  expect(seen.get(400) ?? 0).toBeGreaterThan(requests / 20);
  const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 1_000 }, true);
  const spent = lines.reduce(
    (sum, { usage_source, quota: charged }) => (usage_source ? sum + Number(charged) : sum),
    0,
  );
  await until(async () => ((await gateway.available(user)) === quota - spent ? true : null));
}, 300_000);
