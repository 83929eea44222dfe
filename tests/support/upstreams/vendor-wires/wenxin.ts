import type { ServerResponse } from 'node:http';
import type { UpstreamCall } from '../upstream.js';
import { dressed, eventsOf, type VendorWire } from './vendor-wire.js';

/* Baidu's Wenxin, which grants a token for a pair of keys and takes no other. */

const apiKey = 'PlantedWenxin0001';
const secretKey = 'PlantedBaidu0000000000000001';
const token = '24.plantedTokenOfBaidu0001.2592000.1770000000.282335-1';

/** How many tokens were asked for. */
export const tokensAsked = { count: 0 };

const side = ({ url }: UpstreamCall, response: ServerResponse): boolean => {
  const { pathname, searchParams } = new URL(url, 'http://wenxin.example');
  if (pathname !== '/oauth/2.0/token') return false;
  tokensAsked.count++;
  const right =
    searchParams.get('grant_type') === 'client_credentials' &&
    searchParams.get('client_id') === apiKey &&
    searchParams.get('client_secret') === secretKey;
  const granted = right ? { access_token: token, expires_in: 2_592_000 } : { error: 'invalid_client' };
  response.writeHead(right ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(granted));
  return true;
};

const faultIn = ({ url, body }: UpstreamCall, path: string, stream: boolean): string | null => {
  const { pathname, searchParams } = new URL(url, 'http://wenxin.example');
  if (searchParams.get('access_token') !== token) return 'the token';
  if (pathname !== `/rpc/2.0/ai_custom/v1/wenxinworkshop/${path}`) return 'the address';
  return (JSON.parse(body).stream ?? false) === stream ? null : 'stream';
};

const common = {
  type: 15,
  key: `${apiKey}|${secretKey}`,
  secrets: [apiKey, secretKey, token],
  side,
  counts: true,
  refusals: {
    401: dressed({ error_code: 110, error_msg: `Access token ${token} invalid or no longer valid` }),
    429: dressed({ error_code: 18, error_msg: 'Open api qps request limit reached' }),
    500: dressed({ error_code: 336000, error_msg: 'Internal error' }),
  },
} as const;

const piece = (sentence_id: number, result: string, completion_tokens: number, is_end = false) => ({
  id: 'as-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  sentence_id,
  is_end,
  is_truncated: false,
  result,
  usage: { prompt_tokens: 20, completion_tokens, total_tokens: 20 + completion_tokens },
});

export const wenxinWires: readonly VendorWire[] = [
  {
    ...common,
    name: 'a chat with Wenxin',
    mode: 'chat',
    model: 'ERNIE-4.0-8K',
    fault: (call, stream) => faultIn(call, 'chat/completions_pro', stream),
    whole: JSON.stringify({
      id: 'as-1',
      object: 'chat.completion',
      created: 1_760_000_000,
      result: 'A list of debts.',
      is_truncated: false,
      usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
    }),
    events: eventsOf(piece(0, 'A list', 3), piece(1, ' of debts.', 10), piece(2, '', 10, true)),
  },
  {
    ...common,
    name: 'vectors of Wenxin',
    mode: 'embeddings',
    model: 'Embedding-V1',
    fault: (call) => faultIn(call, 'embeddings/embedding-v1', false),
    whole: JSON.stringify({
      id: 'as-2',
      object: 'embedding_list',
      created: 1_760_000_000,
      data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5] }],
      usage: { prompt_tokens: 20, total_tokens: 20 },
    }),
    events: null,
  },
];
