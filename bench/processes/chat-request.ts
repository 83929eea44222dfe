/* What every call of the benchmark asks: a short chat, the same each time, in the words of one dialect or the other. */

export const chatPath = '/v1/chat/completions';
export const messagesPath = '/v1/messages';

export type Spoken = 'chat' | 'messages';

export interface Asked {
  readonly apiKey: string;
  readonly model: string;
  readonly stream: boolean;
  /** Left out: chat. */
  readonly dialect?: Spoken;
}

export interface ChatRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string | number>>;
}

const instructions = 'You answer in one short paragraph.';
const question = 'What does a gateway do, and why would anyone want to be charged by one?';

/** The same words in both, so that both are as long. */
const messagesIn: Readonly<Record<Spoken, readonly object[]>> = {
  chat: [
    { role: 'system', content: instructions },
    { role: 'user', content: question },
  ],
  messages: [{ role: 'user', content: instructions + question }],
};

export function chatRequest({ apiKey, model, stream, dialect = 'chat' }: Asked): ChatRequest {
  const body = JSON.stringify({
    model,
    messages: messagesIn[dialect],
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
