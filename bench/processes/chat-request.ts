/*
 * What every call of the benchmark asks: the same chat each time, short unless set otherwise, in the words of one
 * dialect or the other.
 */

export const chatPath = '/v1/chat/completions';
export const messagesPath = '/v1/messages';

export type Spoken = 'chat' | 'messages';

export interface Asked {
  readonly apiKey: string;
  readonly model: string;
  readonly stream: boolean;
  /** Left out: chat. */
  readonly dialect?: Spoken;
  /** So long a question, at least, in bytes. Left out: a short one. */
  readonly promptBytes?: number;
}

export interface ChatRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string | number>>;
}

const instructions = 'You answer in one short paragraph.';
const shortQuestion = 'What does a gateway do, and why would anyone want to be charged by one?';

/** The same words in both, so that both are as long. */
const messagesIn: Readonly<Record<Spoken, (question: string) => readonly object[]>> = {
  chat: (question) => [
    { role: 'system', content: instructions },
    { role: 'user', content: question },
  ],
  messages: (question) => [{ role: 'user', content: instructions + question }],
};

export function chatRequest({ apiKey, model, stream, dialect = 'chat', promptBytes = 0 }: Asked): ChatRequest {
  const question = shortQuestion.repeat(Math.max(1, Math.ceil(promptBytes / shortQuestion.length)));
  const body = JSON.stringify({
    model,
    messages: messagesIn[dialect](question),
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
