import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { callerOf, plainChannel, providerOfType } from '../providers/golden.js';

/* The tier of service that a stream reports, wherever its bytes are cut. */

const data = (value: JsonObject): string => `data: ${JSON.stringify(value)}\n\n`;
const info = { callId: 'call-1', model: 'm', createdAt: 1_760_000_000 };

const openAi = (service_tier: string): string =>
  [
    data({ id: 'c', service_tier, choices: [{ index: 0, delta: { role: 'assistant', content: 'a' } }] }),
    data({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    'data: [DONE]\n\n',
  ].join('');
const anthropic = (usage: JsonObject): string =>
  [
    data({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 3, output_tokens: 1, ...usage } } }),
    data({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } }),
    data({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }),
    data({ type: 'message_stop' }),
  ].join('');
const gemini = (metadata: JsonObject): string =>
  data({
    candidates: [{ index: 0, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 3, totalTokenCount: 4, ...metadata },
  });

describe('the service tier that a stream reports', () => {
  test.each([
    ['OpenAI', 1, openAi('priority'), [], 'priority'],
    ['Anthropic', 14, anthropic({ speed: 'fast', inference_geo: 'us' }), ['fast'], 'fast+us'],
    ['Anthropic, which reports one of two', 14, anthropic({ speed: 'standard' }), ['fast', 'us'], 'us'],
    [
      'Anthropic, served at the standard tier',
      14,
      anthropic({ speed: 'standard', inference_geo: 'global' }),
      ['fast'],
      'default',
    ],
    ['Anthropic, which reports neither', 14, anthropic({ service_tier: 'priority' }), ['fast'], undefined],
    ['Gemini', 24, gemini({ serviceTier: 'FLEX' }), [], 'flex'],
    ['Gemini on Vertex', 24, gemini({ trafficType: 'ON_DEMAND_PRIORITY' }), [], 'priority'],
    ['Gemini with provisioned capacity', 24, gemini({ trafficType: 'PROVISIONED_THROUGHPUT' }), [], undefined],
    ['an upstream that reports far too much', 1, openAi('x'.repeat(1_000)), [], undefined],
  ])('is read from %s, cut at every byte', (_, type, text, tiers, reported) => {
    const provider = providerOfType(type);
    const caller = { ...callerOf('chat', { model: 'm', messages: [] }), stream: true, tiers };
    const bytes = Buffer.from(text);
    for (let cut = 1; cut < bytes.length; cut++) {
      const stream = provider.protocol.stream({ provider, channel: plainChannel, caller, info });
      stream.push(Buffer.from(bytes.subarray(0, cut)));
      stream.push(Buffer.from(bytes.subarray(cut)));
      stream.end();
      expect(stream.generated.serviceTier).toBe(reported);
    }
  });
});
