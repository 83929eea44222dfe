import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import {
  type AnthropicUpstream,
  messageOf,
  startAnthropicUpstream,
} from '../../support/upstreams/anthropic-upstream.js';
import { type GeminiUpstream, responseWith, startGeminiUpstream } from '../../support/upstreams/gemini-upstream.js';

/* What a request is held for is what goes upstream: one spelling and one shape, or a refusal that names the member. */

const google = 'gemini-3-pro-preview';
const claude = 'claude-sonnet-4-5-20250929';
let gateway: TestGateway;
let geminiUpstream: GeminiUpstream;
let anthropicUpstream: AnthropicUpstream;
let apiKey: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  geminiUpstream = await startGeminiUpstream();
  anthropicUpstream = await startAnthropicUpstream();
  await gateway.addChannel({ models: ['gpt-4o-mini', 'whisper-1', 'text-embedding-3-small'] });
  await gateway.addChannel({ type: 24, models: [google, 'gemini-embedding-001'], baseUrl: geminiUpstream.url });
  await gateway.addChannel({ type: 14, models: [claude], baseUrl: anthropicUpstream.url });
  apiKey = await gateway.addApiKey(await gateway.addUser(100_000_000));
});
afterAll(async () => {
  await gateway?.stop();
  await geminiUpstream?.stop();
  await anthropicUpstream?.stop();
});

const post = async (path: string, body: string | FormData) => {
  const type: Record<string, string> = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, ...type },
    body,
  });
  return { status: answer.status, text: await answer.text() };
};

const messages = '"messages":[{"role":"user","content":"x"}]';
const contents = '"contents":[{"parts":[{"text":"x"}]}]';
const generate = `/v1beta/models/${google}:generateContent`;
const embed = '/v1beta/models/gemini-embedding-001';

describe('an ambiguous body is refused by the name of the member, and no request is sent', () => {
  test.each([
    ['/v1/chat/completions', `{"model":"gpt-4o-mini",${messages},"max_tokens":1,"max_tokens":60000}`, 'max_tokens'],
    ['/v1/chat/completions', `{"model":"gpt-4o-mini",${messages},"max_tokens":1,"MAX_TOKENS":60000}`, 'MAX_TOKENS'],
    ['/v1/chat/completions', `{"model":"gpt-4o-mini",${messages},"tools":{"googleSearch":{}}}`, 'tools'],
    ['/v1/chat/completions', `{"model":"gpt-4o-mini",${messages},"functions":{"name":"f"}}`, 'functions'],
    ['/v1/chat/completions', `{"model":"gpt-4o-mini",${messages},"modalities":"audio"}`, 'modalities'],
    ['/v1/embeddings', '{"model":"text-embedding-3-small","input":"x","input":["y"]}', 'input'],
    ['/v1/messages', `{"model":"${claude}",${messages},"max_tokens":1,"max\\u005ftokens":60000}`, 'max_tokens'],
    [
      '/v1/messages',
      `{"model":"${claude}",${messages},"max_tokens":1,"tools":{"type":"web_search_20250305"}}`,
      'tools',
    ],
    [
      '/v1/messages',
      `{"model":"${claude}","messages":[{"role":"user","content":{"type":"text"}}],"max_tokens":1}`,
      'content',
    ],
    ['/v1/messages/count_tokens', `{"model":"${claude}",${messages},"Tools":[]}`, 'Tools'],
    [generate, `{${contents},"tools":{"googleSearch":{}}}`, 'tools'],
    [generate, `{${contents},"tools":[{"functionDeclarations":{"name":"f"}}]}`, 'tools[0].functionDeclarations'],
    [
      generate,
      `{${contents},"generationConfig":{"maxOutputTokens":5},"generation_config":{"maxOutputTokens":60000}}`,
      'generation_config',
    ],
    [generate, `{${contents},"generationConfig":{"maxOutputTokens":5,"max_output_tokens":60000}}`, 'max_output_tokens'],
    [generate, `{${contents},"generationConfig":[{"maxOutputTokens":60000}]}`, 'generationConfig'],
    [generate, `{${contents},"generationConfig":{"responseModalities":"AUDIO"}}`, 'responseModalities'],
    [generate, `{${contents},"generationConfig":{"responseModalities":[3]}}`, 'responseModalities'],
    [generate, `{${contents},"instances":[{"prompt":"x"}]}`, 'instances'],
    [
      `${embed}:embedContent`,
      '{"content":{"parts":[{"text":"x"}]},"requests":[{"content":{"parts":[{"text":"x"}]}}]}',
      'requests',
    ],
    [
      `${embed}:batchEmbedContents`,
      '{"content":{"parts":[{"text":"x"}]},"requests":[{"content":{"parts":[{"text":"x"}]}}]}',
      'content',
    ],
  ])('%s %s', async (path, body, member) => {
    const asked = [
      gateway.provider.tally().requests.length,
      geminiUpstream.calls.length,
      anthropicUpstream.calls.length,
    ];
    const { status, text } = await post(path, body);
    expect([status, text]).toEqual([400, expect.stringContaining(member)]);
    expect([
      gateway.provider.tally().requests.length,
      geminiUpstream.calls.length,
      anthropicUpstream.calls.length,
    ]).toEqual(asked);
  });
});

describe('an ambiguous form is refused by the name of the field', () => {
  test.each([
    [
      ['model', 'whisper-1'],
      ['model', 'other'],
    ],
    [
      ['prompt', 'a'],
      ['prompt', 'b'],
    ],
    [['prompt[]', 'a']],
    [['Model', 'whisper-1']],
    [
      ['response_format', 'json'],
      ['response_format', 'text'],
    ],
    [['file', 'a text beside the file']],
    [['stream[0]', 'true']],
  ])('%j', async (...fields) => {
    const form = new FormData();
    for (const [name, value] of fields) form.append(name ?? '', value ?? '');
    form.append('file', new Blob([Buffer.alloc(64)]), 'a.wav');
    const { status, text } = await post('/v1/audio/transcriptions', form);
    const [[name = ''] = []] = fields;
    expect([status, text]).toEqual([400, expect.stringContaining(name.replace(/\[.*/, ''))]);
  });
});

test('a single part where Google accepts a list of one is counted, and forwarded unchanged', async () => {
  geminiUpstream.respondWith('generateContent', responseWith([{ text: 'x' }], { finishReason: 'STOP' }));
  const instructions = { parts: { text: 'word '.repeat(5_000) } };
  const body = { contents: [{ parts: { text: 'x' } }], system_instruction: instructions };
  expect(await post(generate, JSON.stringify(body))).toMatchObject({ status: 200 });
  expect(JSON.parse(geminiUpstream.calls.at(-1)?.body ?? '')).toMatchObject({ system_instruction: instructions });
  const { text } = await post(`/v1beta/models/gpt-4o-mini:countTokens`, JSON.stringify(body));
  expect(JSON.parse(text).totalTokens).toBeGreaterThan(5_000);
});

test('beta features that cost more are not forwarded, however they are spelled or repeated', async () => {
  anthropicUpstream.respondWith(messageOf([{ type: 'text', text: 'x' }]));
  const headers = new Headers({ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' });
  for (const beta of [
    'Fast-Mode-2026-02-01, files-api-2025-04-14',
    'CONTEXT-1M-2025-08-07',
    'message-threads-2026-08-12',
    '["context-1m-2025-08-07"]',
  ])
    headers.append('anthropic-beta', beta);
  await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers,
    body: `{"model":"${claude}",${messages},"max_tokens":9}`,
  });
  expect(anthropicUpstream.calls.at(-1)?.headers['anthropic-beta']).toBe('files-api-2025-04-14');
});

test('beta features and the version are forwarded byte for byte where all of them are permitted', async () => {
  anthropicUpstream.respondWith(messageOf([{ type: 'text', text: 'x' }]));
  const given = {
    'anthropic-beta': 'files-api-2025-04-14,  effort-2025-11-24 ,claude-code-20250219',
    'anthropic-version': '2026-10-21',
  };
  await fetch(`${gateway.url}/v1/messages?beta=true`, {
    method: 'POST',
    headers: { ...given, authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: `{"model":"${claude}",${messages},"max_tokens":9}`,
  });
  expect(anthropicUpstream.calls.at(-1)?.headers).toMatchObject(given);
});

test('a limit of searches is forwarded as the number that was reserved for', async () => {
  anthropicUpstream.respondWith(messageOf([{ type: 'text', text: 'x' }]));
  for (const [stated, sent] of [
    ['"500"', 20],
    ['2.7', 2],
    ['3', 3],
    ['null', 20],
  ] as const) {
    const tools = `[{"type":"web_search_20250305","name":"web_search","max_uses":${stated}}]`;
    await post('/v1/messages', `{"model":"${claude}",${messages},"max_tokens":9,"tools":${tools}}`);
    expect(anthropicUpstream.calls.at(-1)?.json.tools).toMatchObject([{ max_uses: sent }]);
  }
});
