import { type AgentTurn, agentTurn } from './agent-turn.js';

/*
 * What every call of the benchmark asks: the same chat each time, short unless set otherwise, in the words of one
 * dialect or another.
 */

export const chatPath = '/v1/chat/completions';
const messagesPath = '/v1/messages';

const responsesPath = '/v1/responses';

export type Spoken = 'chat' | 'messages' | 'responses';

export const pathOf: Readonly<Record<Spoken, string>> = {
  chat: chatPath,
  messages: messagesPath,
  responses: responsesPath,
};

export interface Asked {
  readonly apiKey: string;
  readonly model: string;
  readonly stream: boolean;
  /** Left out: chat. */
  readonly dialect?: Spoken;
  /** So long a question, at least, in bytes. Left out: a short one. */
  readonly promptBytes?: number;
  /** Asked for instead. Left out: a chat. */
  readonly turn?: AgentTurn;
}

export interface ChatRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string | number>>;
}

const instructions = 'You answer in one short paragraph.';
const shortQuestion = 'What does a gateway do, and why would anyone want to be charged by one?';

/** The same words in all of them, so that all are as long. */
const messagesIn: Readonly<Record<Spoken, (question: string) => readonly object[]>> = {
  chat: (question) => [
    { role: 'system', content: instructions },
    { role: 'user', content: question },
  ],
  messages: (question) => [{ role: 'user', content: instructions + question }],
  responses: (question) => [{ role: 'user', content: instructions + question }],
};

const listName: Readonly<Record<Spoken, string>> = { chat: 'messages', messages: 'messages', responses: 'input' };
const limitName: Readonly<Record<Spoken, string>> = {
  chat: 'max_tokens',
  messages: 'max_tokens',
  responses: 'max_output_tokens',
};

export function chatRequest({ apiKey, model, stream, dialect = 'chat', promptBytes = 0, turn }: Asked): ChatRequest {
  const question = shortQuestion.repeat(Math.max(1, Math.ceil(promptBytes / shortQuestion.length)));
  const body = JSON.stringify({
    model,
    ...(turn === undefined ? { [listName[dialect]]: messagesIn[dialect](question) } : agentTurn(dialect, turn)),
    [limitName[dialect]]: 500,
    ...(stream ? { stream } : {}),
  });
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return { body, headers };
}
