import { createHash, createHmac } from 'node:crypto';
import type { UpstreamCall } from '../upstream.js';
import { dressed, eventsOf, type VendorWire } from './vendor-wire.js';

/* Tencent's Hunyuan, which takes nothing that is not rightly signed. */

const secretId = 'AKIDplanted000000000000000000000001';
const secretKey = 'PlantedTencentSecret000000000001';

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function isSigned({ headers, body }: UpstreamCall): boolean {
  const timestamp = String(headers['x-tc-timestamp']);
  const date = new Date(Number(timestamp) * 1000).toISOString().slice(0, 10);
  const [, signed = '', signature] =
    /SignedHeaders=([\w;-]+), Signature=(\w+)$/.exec(headers.authorization ?? '') ?? [];
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name]).toLowerCase()}\n`);
  const canonical = `POST\n/\n\n${lines.join('')}\n${signed}\n${sha256(body)}`;
  const scope = `${date}/hunyuan/tc3_request`;
  const key = hmac(hmac(hmac(`TC3${secretKey}`, date), 'hunyuan'), 'tc3_request');
  const expected = hmac(key, `TC3-HMAC-SHA256\n${timestamp}\n${scope}\n${sha256(canonical)}`).toString('hex');
  const recent = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300;
  return (
    recent && signed.includes('host') && headers.authorization?.includes(secretId) === true && signature === expected
  );
}

const faultIn = (call: UpstreamCall, action: string, stream: boolean): string | null => {
  if (!isSigned(call)) return 'the signature';
  const { headers, url } = call;
  if (url !== '/' || headers['x-tc-action'] !== action || headers['x-tc-version'] !== '2023-09-01') return 'the action';
  return (JSON.parse(call.body).Stream ?? false) === stream ? null : 'Stream';
};

const refusal = (Code: string) =>
  dressed({ Response: { Error: { Code, Message: `Not now, ${secretId}.` }, RequestId: 'r' } });

const common = {
  type: 23,
  key: `1250000000|${secretId}|${secretKey}`,
  secrets: [secretId, secretKey],
  counts: true,
  refusals: {
    401: refusal('AuthFailure.SignatureFailure'),
    429: refusal('RequestLimitExceeded'),
    500: refusal('FailedOperation.EngineServerError'),
  },
} as const;

const piece = (Content: string, FinishReason = '', CompletionTokens = 10) => ({
  Id: 'h1',
  Created: 1_760_000_000,
  Choices: [{ Index: 0, Delta: { Role: 'assistant', Content }, FinishReason }],
  Usage: { PromptTokens: 20, CompletionTokens, TotalTokens: 20 + CompletionTokens },
});

export const hunyuanWires: readonly VendorWire[] = [
  {
    ...common,
    name: 'a chat with Hunyuan',
    mode: 'chat',
    model: 'hunyuan-turbos-latest',
    fault: (call, stream) => faultIn(call, 'ChatCompletions', stream),
    whole: JSON.stringify({
      Response: {
        Id: 'h1',
        Created: 1_760_000_000,
        Choices: [{ Index: 0, Message: { Role: 'assistant', Content: 'A list of debts.' }, FinishReason: 'stop' }],
        Usage: { PromptTokens: 20, CompletionTokens: 10, TotalTokens: 30 },
        RequestId: 'h1',
      },
    }),
    events: eventsOf(piece('A list', '', 3), piece(' of debts.'), piece('', 'stop')),
  },
  {
    ...common,
    name: 'vectors of Hunyuan',
    mode: 'embeddings',
    model: 'hunyuan-embedding',
    fault: (call) => faultIn(call, 'GetEmbedding', false),
    whole: JSON.stringify({
      Response: {
        Data: [{ Object: 'embedding', Index: 0, Embedding: [0.25, -0.5] }],
        Usage: { PromptTokens: 20, TotalTokens: 20 },
        RequestId: 'h2',
      },
    }),
    events: null,
  },
];
