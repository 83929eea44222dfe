/* What every call of the benchmark asks: a short chat, the same each time. */

export const chatPath = '/v1/chat/completions';

export interface Asked {
  readonly apiKey: string;
  readonly model: string;
  readonly stream: boolean;
}

export interface ChatRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string | number>>;
}

export function chatRequest({ apiKey, model, stream }: Asked): ChatRequest {
  const body = JSON.stringify({
    model,
    messages: [
      { role: 'system', content: 'You answer in one short paragraph.' },
      { role: 'user', content: 'What does a gateway do, and why would anyone want to be charged by one?' },
    ],
    max_tokens: 500,
    ...(stream ? { stream } : {}),
  });
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return { body, headers };
}
