import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Of the headers of an upstream's answer a caller gets those of a list, whatever the dialect, the form and the end. */

let gateway: TestGateway;
let upstream: Upstream;
let apiKey: string;
let answer: { readonly status: number; readonly type: string; readonly body: string };

/** Those that a caller is to have, by the dialect it calls in. */
const passed = { 'x-upstream-request-id': 'req-0123456789' };
const timed = { ...passed, 'openai-processing-ms': '812', 'openai-version': '2020-10-01' };

const withheld: Readonly<Record<string, string>> = {
  'set-cookie': 'session=of-the-operator; HttpOnly',
  'set-cookie2': 'session=2',
  'openai-organization': 'org-of-the-operator',
  'openai-project': 'proj_of_the_operator',
  'anthropic-organization-id': '0f1e2d3c-aaaa',
  'anthropic-workspace-id': 'wrkspc_01',
  'x-goog-project': 'project-7',
  'x-ratelimit-limit-requests': '10000',
  'x-ratelimit-remaining-tokens': '149984',
  'anthropic-ratelimit-tokens-remaining': '41',
  'anthropic-priority-input-tokens-remaining': '41',
  'anthropic-fast-input-tokens-remaining': '41',
  'azureml-model-session': 'd7',
  'x-ms-region': 'East US',
  'cf-ray': '8f1e2d3c-FRA',
  via: '1.1 upstream.example',
  server: 'upstream.example',
  'alt-svc': 'h3=":443"',
  'proxy-authenticate': 'Basic',
  'www-authenticate': 'Basic',
  trailer: 'x-later',
  upgrade: 'h2c',
  'keep-alive': 'timeout=77',
  'strict-transport-security': 'max-age=1',
  'access-control-allow-origin': '*',
  'x-of-tomorrow': '1',
};

const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
const said = { role: 'assistant', content: 'hi' };
const chat = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: said, finish_reason: 'stop' }],
  usage,
};
const chunk = { ...chat, object: 'chat.completion.chunk', choices: [{ index: 0, delta: said, finish_reason: 'stop' }] };
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 1 },
};
const generated = {
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 },
};
const event = (value: object): string =>
  `${'type' in value ? `event: ${String(value.type)}\n` : ''}data: ${JSON.stringify(value)}\n\n`;
const messageEvents = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]
  .map(event)
  .join('');

/** Upstreams of each wire: what they answer whole and streamed. */
const wires = {
  openai: { model: 'of-openai', whole: JSON.stringify(chat), stream: `${event(chunk)}data: [DONE]\n\n` },
  anthropic: { model: 'of-anthropic', whole: JSON.stringify(message), stream: messageEvents },
  gemini: { model: 'gemini-of-google', whole: JSON.stringify(generated), stream: event(generated) },
};
type Wire = keyof typeof wires;

const messages = [{ role: 'user', content: 'hi' }];
const callers: Readonly<Record<Wire, (model: string, stream: boolean) => readonly [path: string, body: object]>> = {
  openai: (model, stream) => ['/v1/chat/completions', { model, messages, stream }],
  anthropic: (model, stream) => ['/v1/messages', { model, messages, stream, max_tokens: 9 }],
  gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  ],
};

beforeAll(async () => {
  gateway = await startTestGateway();
  upstream = await startUpstream((_, response) => {
    response.writeHead(answer.status, {
      'content-type': answer.type,
      ...withheld,
      'x-request-id': passed['x-upstream-request-id'],
      'openai-processing-ms': '812',
      'openai-version': '2020-10-01',
      'retry-after': '7',
    });
    response.end(answer.body);
  });
  await gateway.setOption('SelfUseModeEnabled', 'true');
  for (const [type, { model }] of [
    [1, wires.openai],
    [14, wires.anthropic],
    [24, wires.gemini],
  ] as const)
    await gateway.addChannel({ type, models: [model], baseUrl: upstream.url });
  apiKey = await gateway.addApiKey(await gateway.addUser(100_000_000));
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

async function ask(dialect: Wire, wire: Wire, stream: boolean) {
  const [path, body] = callers[dialect](wires[wire].model, stream);
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.text();
  return response;
}

const foreign = (response: Response): string[] =>
  Object.entries(withheld).flatMap(([name, value]) => (response.headers.get(name) === value ? [name] : []));

describe.each(Object.keys(wires) as Wire[])('an answer for clients of the dialect %s', (dialect) => {
  test.each((Object.keys(wires) as Wire[]).flatMap((wire) => [[wire, false] as const, [wire, true] as const]))(
    'has the headers of the list and no other; upstream: %s, streamed: %s',
    async (wire, stream) => {
      const { whole, stream: streamed } = wires[wire];
      answer = stream
        ? { status: 200, type: 'text/event-stream', body: streamed }
        : { status: 200, type: 'application/json', body: whole };
      const response = await ask(dialect, wire, stream);
      expect([response.status, foreign(response)]).toEqual([200, []]);
      const listed = dialect === 'openai' ? timed : passed;
      for (const [name, value] of Object.entries(timed))
        expect(response.headers.get(name)).toBe(name in listed ? value : null);
      expect(response.headers.get('retry-after')).toBeNull();
      expect(response.headers.get('x-request-id')).toMatch(/^20\d{12}/);
    },
  );

  test('that is a refusal has when to ask again, and no other header of the upstream', async () => {
    answer = { status: 429, type: 'application/json', body: '{"error":{"message":"slow down","type":"rate_limit"}}' };
    const response = await ask(dialect, dialect, false);
    expect([response.status, response.headers.get('retry-after'), foreign(response)]).toEqual([429, '7', []]);
  });
});
