import { describe, expect, test } from 'vitest';
import type { UpstreamChannel } from '../../../src/relay/contracts/protocol.js';
import { responses } from '../../../src/relay/dialects/openai/endpoints/responses.js';
import {
  type ResourcePorts,
  resourceCaller,
  resourceRequest,
} from '../../../src/relay/pipeline/kept/resource-request.js';
import { plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/* Where responses and conversations are read that an upstream keeps, beside where they were requested. */

const { claude, gemini, midjourney } = usualOptions;
const settings = { siteAddress: '', claude, gemini, midjourney, keepsUpstream: true, passThroughRequests: false };
const ports = {
  directory: { settings: () => settings },
  config: { forceUsage: false, azureDefaultApiVersion: '2024-12-01-preview' },
  clock: { now: () => 0 },
} as unknown as ResourcePorts;

const asked = (type: number, channel: Partial<UpstreamChannel>, instead: string | null, path: readonly string[]) => {
  const provider = providerOfType(type);
  const keeper = { channelId: 1, provider, channel: { ...plainChannel, ...channel }, parsed: { passThrough: false } };
  return resourceRequest(
    ports,
    keeper as unknown as Parameters<typeof resourceRequest>[1],
    resourceCaller(responses, new URLSearchParams(), {}, { stream: false, model: '' }),
    { method: 'GET', instead, path, query: new URLSearchParams('include=x'), model: '', content: null },
  );
};

const azure = 'https://res1.openai.azure.com';
const mantle = 'https://bedrock-mantle.us-east-1.api.aws/v1';
const bedrockKey = 'bedrock-api-key|us-east-1';

describe('what an upstream keeps', () => {
  test.each([
    [3, { baseUrl: `${azure}/openai/v1` }, `${azure}/openai/v1`],
    [3, { baseUrl: `${azure}/openai/v1/` }, `${azure}/openai/v1`],
    [3, { baseUrl: azure }, `${azure}/openai/v1`],
    [33, { baseUrl: mantle, key: bedrockKey }, mantle],
    [20, { baseUrl: '' }, 'https://openrouter.ai/api/v1'],
  ])('is requested of type %i at %j below %s', (type, channel, root) => {
    expect(asked(type, channel, null, ['resp_1']).url).toBe(`${root}/responses/resp_1?include=x`);
    expect(asked(type, channel, null, ['resp_1', 'cancel']).url).toBe(`${root}/responses/resp_1/cancel?include=x`);
    expect(asked(type, channel, 'conversations', ['conv_1', 'items']).url).toBe(
      `${root}/conversations/conv_1/items?include=x`,
    );
  });

  test('is requested with the key of the channel, and without a type where nothing is sent', () => {
    const { headers } = asked(3, { baseUrl: `${azure}/openai/v1` }, null, ['resp_1']);
    expect(headers).toMatchObject({ 'api-key': plainChannel.key });
    expect(headers).not.toHaveProperty('content-type');
  });
});
