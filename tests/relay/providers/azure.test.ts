import { describe, expect, test } from 'vitest';
import type { Mode } from '../../../src/domain/channel/provider.js';
import { wireOf } from '../../../src/relay/contracts/protocol.js';
import type { ProviderQueries } from '../../../src/relay/protocols/provider-queries.js';
import { azure } from '../../../src/relay/providers/azure.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, usualOptions } from './golden.js';

/* Azure's models by version 1 of its interface, which a channel's base URL names, and by deployments. */

const resource = 'https://res1.openai.azure.com';
const version1 = `${resource}/openai/v1`;
const entraToken = 'eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJodHRwcyJ9.c2lnbmF0dXJlLV8';

interface Asked {
  readonly mode?: Mode;
  readonly baseUrl?: string;
  readonly other?: string;
  readonly query?: string;
  readonly key?: string;
  readonly model?: string;
  readonly below?: string;
}

const inputs: Partial<Record<Mode, object>> = {
  responses: { input: 'hi' },
  embeddings: { input: 'hi' },
  speech: { input: 'hi', voice: 'alloy' },
  completions: { prompt: 'hi' },
  transcription: {},
  translation: {},
  task: { prompt: 'hi', seconds: 4, size: '1280x720', n: 1 },
};

function request({
  mode = 'chat',
  baseUrl = version1,
  other = '',
  query = '',
  key = 'k3y',
  model = 'm',
  below,
}: Asked) {
  const body = { model, ...(inputs[mode] ?? { messages: [{ role: 'user', content: 'hi' }] }) };
  const caller = { ...callerOf(mode, body, query), ...(below !== undefined && { below }) };
  const channel = { ...plainChannel, baseUrl, other, key };
  return wireOf(azure, mode).request({ provider: azure, channel, caller, model, options: usualOptions });
}

describe('a base URL that ends with version 1 of Azure’s interface', () => {
  test.each([
    ['chat', 'chat/completions'],
    ['completions', 'completions'],
    ['responses', 'responses'],
    ['embeddings', 'embeddings'],
    ['speech', 'audio/speech'],
    ['transcription', 'audio/transcriptions'],
    ['translation', 'audio/translations'],
    ['task', 'videos'],
  ] as const)('is the beginning of every address: %s at %s, without a version', (mode, path) => {
    expect(request({ mode }).url).toBe(`${version1}/${path}`);
  });

  test.each([
    'https://foundry1.services.ai.azure.com/openai/v1',
    'https://foundry1.services.ai.azure.com/api/projects/p1/openai/v1',
  ])('may be one of Foundry’s: %s', (baseUrl) => {
    expect(request({ baseUrl }).url).toBe(`${baseUrl}/chat/completions`);
    expect(request({ baseUrl, mode: 'responses' }).url).toBe(`${baseUrl}/responses`);
  });

  test('is sent a version that is a word, and none that is a date', () => {
    for (const mode of ['chat', 'responses'] as const) {
      expect(request({ mode, other: 'preview' }).url).toMatch(/\?api-version=preview$/);
      expect(request({ mode, query: 'api-version=preview' }).url).toMatch(/\?api-version=preview$/);
      expect(request({ mode, other: '2024-12-01-preview' }).url).not.toContain('?');
      expect(request({ mode, query: 'api-version=2025-04-01-preview' }).url).not.toContain('?');
    }
  });

  test('is sent the name of the deployment in the body, and an option for usage in streams', () => {
    const body = (asked: Asked) => JSON.parse(wordsOf(request(asked).content));
    expect(body({ model: 'gpt-4.1' })).toMatchObject({ model: 'gpt-4.1' });
    expect(body({ model: 'gpt-3.5-turbo' })).toMatchObject({ model: 'gpt-35-turbo' });
    expect(body({ model: 'model-router' })).toMatchObject({ model: 'model-router' });
    const asked = { model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true };
    const sent = azure.protocol.request({
      provider: azure,
      channel: { ...plainChannel, baseUrl: version1, other: '2023-05-15' },
      caller: callerOf('chat', asked),
      model: 'm',
      options: usualOptions,
    });
    expect(JSON.parse(wordsOf(sent.content))).toMatchObject({ stream_options: { include_usage: true } });
  });

  test('has the counts and summaries of Responses below it', () => {
    expect(request({ mode: 'responses', below: 'compact' }).url).toBe(`${version1}/responses/compact`);
    expect(request({ mode: 'responses', below: 'input_tokens' }).url).toBe(`${version1}/responses/input_tokens`);
  });
});

test('a base URL without /openai/v1 leads to deployments, and for Responses to version 1', () => {
  const baseUrl = resource;
  expect(request({ baseUrl }).url).toBe(
    `${resource}/openai/deployments/m/chat/completions?api-version=2024-12-01-preview`,
  );
  expect(request({ baseUrl, mode: 'responses' }).url).toBe(`${version1}/responses`);
  expect(request({ baseUrl, mode: 'task' }).url).toBe(`${version1}/videos`);
});

describe('the key of an Azure channel', () => {
  test.each([version1, resource])('is shown as api-key, and a token of Entra’s as a bearer token: %s', (baseUrl) => {
    for (const mode of ['chat', 'responses', 'task'] as const) {
      expect(request({ mode, baseUrl }).headers).toMatchObject({ 'api-key': 'k3y' });
      expect(request({ mode, baseUrl }).headers).not.toHaveProperty('authorization');
      const { headers } = request({ mode, baseUrl, key: ` ${entraToken}\n` });
      expect(headers).toMatchObject({ authorization: `Bearer ${entraToken}` });
      expect(headers).not.toHaveProperty('api-key');
    }
  });
});

test.each([version1, resource])('the models of a channel at %s are the deployments of its resource', async (base) => {
  const asked: unknown[] = [];
  const json: ProviderQueries['json'] = async (url, headers) => {
    asked.push([url, headers]);
    return { data: [{ id: 'gpt-4.1' }, { id: 'model-router' }] };
  };
  expect(await azure.models?.({ base, key: 'k3y', json } as ProviderQueries)).toEqual([
    { name: 'gpt-4.1', modes: null },
    { name: 'model-router', modes: null },
  ]);
  expect(asked).toEqual([[`${resource}/openai/deployments?api-version=2023-03-15-preview`, { 'api-key': 'k3y' }]]);
});
