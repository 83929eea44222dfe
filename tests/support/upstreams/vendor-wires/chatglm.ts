import { createHmac } from 'node:crypto';
import type { UpstreamCall } from '../upstream.js';
import { dressed, type VendorWire } from './vendor-wire.js';

/* Version 3 of Zhipu's interface, which takes nothing but a token that its key has signed. */

const id = 'plantedZhipuId00000000000000001';
const secret = 'PlantedZhipuSecret';

function isSigned({ headers }: UpstreamCall): boolean {
  const [header = '', claims = '', signature] = (headers.authorization ?? '').split('.');
  const { api_key, exp, timestamp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const expected = createHmac('sha256', secret).update(`${header}.${claims}`).digest('base64url');
  return signature === expected && api_key === id && exp > Date.now() && Math.abs(Date.now() - timestamp) < 60_000;
}

const event = (name: string, data: string, meta = ''): string => `event: ${name}\nid: 1\ndata: ${data}\n${meta}\n`;
const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };

export const chatglmWires: readonly VendorWire[] = [
  {
    type: 16,
    name: 'a chat with ChatGLM',
    mode: 'chat',
    model: 'chatglm_pro',
    key: `${id}.${secret}`,
    secrets: [id, secret],
    counts: true,
    refusals: {
      401: dressed({ code: 1002, msg: `The token of ${id} is invalid`, success: false }),
      429: dressed({ code: 1302, msg: 'Too many at once', success: false }),
      500: dressed({ code: 500, msg: 'Internal error', success: false }),
    },
    fault(call, stream) {
      if (!isSigned(call)) return 'the signature';
      const method = stream ? 'sse-invoke' : 'invoke';
      return call.url === `/api/paas/v3/model-api/chatglm_pro/${method}` ? null : 'the address';
    },
    whole: JSON.stringify({
      code: 200,
      msg: 'ok',
      success: true,
      data: {
        request_id: 'r1',
        task_status: 'SUCCESS',
        choices: [{ role: 'assistant', content: '"A list of debts."' }],
        usage,
      },
    }),
    events: [
      event('add', 'A list'),
      event('add', ' of debts.'),
      event('finish', '', `meta: ${JSON.stringify({ task_status: 'SUCCESS', usage, request_id: 'r1' })}\n`),
    ],
  },
];
