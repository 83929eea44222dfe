import { describe, expect, test } from 'vitest';
import { openAiCaller } from '../../src/relay/callers/openai/dialect.js';
import { passedHeaders } from '../../src/relay/upstream/passed-headers.js';

const passed = (headers: Record<string, string | string[]>) =>
  passedHeaders(openAiCaller.upstreamHeaders, headers, 'sk-of-the-channel');

describe('of an upstream’s headers a caller gets', () => {
  test('its rate limits and, under a name of its own, its request id', () => {
    expect(
      passed({
        'x-ratelimit-limit-requests': '10000',
        'x-ratelimit-remaining-tokens': '149984',
        'x-ratelimit-reset-requests': '1m30.951s',
        'x-request-id': 'req_8f1e2d3c',
      }),
    ).toEqual([
      ...['x-ratelimit-limit-requests', '10000'],
      ...['x-ratelimit-remaining-tokens', '149984'],
      ...['x-ratelimit-reset-requests', '1m30.951s'],
      ...['x-upstream-request-id', 'req_8f1e2d3c'],
    ]);
  });

  test.each([
    ['a cookie', { 'set-cookie': ['session=1'] }],
    ['who serves it', { server: 'nginx', via: '1.1 upstream.example', 'openai-organization': 'org-1' }],
    ['how it came', { 'content-length': '7', 'content-encoding': 'br', connection: 'close', 'retry-after': '1' }],
    ['what is not made like a limit', { 'x-ratelimit-limit-requests': 'see https://upstream.example/limits' }],
    ['more than a line', { 'x-request-id': 'a'.repeat(129) }],
    ['the key of the channel', { 'x-request-id': 'req_sk-of-the-channel' }],
  ])('not %s', (_what, headers) => {
    expect(passed(headers)).toBeNull();
  });
});
