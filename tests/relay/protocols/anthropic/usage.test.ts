import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/relay/json/json.js';
import { hoursAskedBy, readAnthropicUsage } from '../../../../src/relay/protocols/anthropic/usage.js';

const asked = (ttl: string): JsonObject => ({
  system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl } }],
});
const inResult = (ttl: string): JsonObject => ({
  messages: [{ role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', cache_control: { ttl } }] }] }],
});
const read = (reported: JsonObject, body: JsonObject, paramOverride: JsonObject | null = null) =>
  readAnthropicUsage(reported, false, hoursAskedBy({ body }, { paramOverride }));

describe('what Anthropic reports of cache writes', () => {
  const reported = { input_tokens: 10, cache_creation_input_tokens: 300, output_tokens: 5 };

  test('without a lifetime has the requested one', () => {
    for (const body of [asked, inResult]) {
      expect(read(reported, body('1h'))).toEqual({ input: 10, cacheWriteHour: 300, output: 5 });
      expect(read(reported, body('5m'))).toEqual({ input: 10, cacheWrite: 300, output: 5 });
      expect(read(reported, {}, body('1h'))).toMatchObject({ cacheWriteHour: 300 });
    }
    expect(read(reported, { prompt_cache_options: { ttl: '12h' } })).toMatchObject({ cacheWrite: 300 });
  });

  test('with lifetimes has these, whatever the request contains', () => {
    const lifetimes = (minutes: number, hour: number) => ({
      ...reported,
      cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour },
    });
    expect(read(lifetimes(300, 0), asked('1h'))).toMatchObject({ cacheWrite: 300 });
    expect(read(lifetimes(100, 200), asked('5m'))).toMatchObject({ cacheWrite: 100, cacheWriteHour: 200 });
  });

  test('in several rounds is summed by the same rule', () => {
    const rounds = {
      ...reported,
      iterations: [
        { type: 'compaction', ...reported },
        { type: 'message', ...reported },
      ],
    };
    expect(read(rounds, asked('1h'))).toMatchObject({ input: 20, cacheWriteHour: 600 });
  });
});
