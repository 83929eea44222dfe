import { describe, expect, test } from 'vitest';
import { openAiCaller } from '../../../src/relay/dialects/openai/dialect.js';
import { passedHeaders } from '../../../src/relay/upstream/passed-headers.js';

const channel = {
  key: 'sk-of-the-channel|second-4711-part',
  baseUrl: 'http://inference-node-7:8000',
  organization: 'org-1a2b3c',
  other: '',
  proxy: null,
};

const passed = (headers: Record<string, string | string[]>) =>
  passedHeaders(openAiCaller.upstreamHeaders, headers, channel);

describe('the upstream headers that a caller gets', () => {
  test('include the time that it took and, under a name of its own, the request id', () => {
    expect(
      passed({ 'openai-processing-ms': '812', 'openai-version': '2020-10-01', 'x-request-id': 'req_8f1e2d3c' }),
    ).toEqual([
      ...['openai-processing-ms', '812'],
      ...['openai-version', '2020-10-01'],
      ...['x-upstream-request-id', 'req_8f1e2d3c'],
    ]);
  });

  test.each([
    [{ 'request-id': 'req_011' }, 'req_011'],
    [{ 'apim-request-id': '0a1b-2c3d' }, '0a1b-2c3d'],
    [{ 'x-amzn-requestid': 'abc-1' }, 'abc-1'],
    [{ 'x-request-id': 'first', 'request-id': 'second' }, 'first'],
    [{ 'x-request-id': 'not well formed', 'request-id': 'second' }, 'second'],
  ])('include one request id, whatever the upstream calls it: %j', (headers, id) =>
    expect(passed(headers as Record<string, string>)).toEqual(['x-upstream-request-id', id]),
  );

  test.each([
    ['a cookie', { 'set-cookie': ['session=1'] }],
    ['the name of the server', { server: 'nginx', via: '1.1 upstream.example', 'openai-organization': 'org-1' }],
    [
      'the path of the request',
      { 'content-length': '7', 'content-encoding': 'br', connection: 'close', 'retry-after': '1' },
    ],
    ['limits of the account', { 'x-ratelimit-limit-requests': '10000', 'x-ratelimit-remaining-tokens': '149984' }],
    ['a malformed time', { 'openai-processing-ms': 'see https://upstream.example/times' }],
    ['more than a line', { 'x-request-id': 'a'.repeat(129) }],
    ['the key of the channel', { 'x-request-id': 'req_sk-of-the-channel' }],
    ['a part of the key', { 'x-request-id': 'req_4711-part' }],
    ['a fragment of the key in capitals', { 'x-request-id': 'THE-CHANNEL-17' }],
    ['the address of the channel', { 'x-request-id': 'inference-node-7-000017' }],
    ['the account of the channel', { 'x-request-id': 'org-1a2b3c-17' }],
    ['an address', { 'openai-processing-ms': '10.0.0.7:8000', 'x-request-id': 'node.internal' }],
  ])('do not include %s', (_what, headers) => {
    expect(passed(headers)).toBeNull();
  });
});
