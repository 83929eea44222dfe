import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { chatPath, chatRequest } from './chat-request.js';
import { answerParent } from './child.js';

/* Streams that stay open: many callers that all wait for the rest of a slow answer, so that memory can be looked at. */

export type OpenStreamsQuestion =
  | {
      readonly ask: 'open';
      readonly url: string;
      readonly apiKey: string;
      readonly model: string;
      readonly streams: number;
      /** So fast they are begun. */
      readonly perSecond: number;
    }
  | { readonly ask: 'finish' };

/** To `open`: how many had begun to arrive and had not ended; to `finish`: how many came to their end. */
export interface OpenStreamsAnswer {
  readonly streams: number;
}

let ends: Promise<boolean>[] = [];

async function open(question: Extract<OpenStreamsQuestion, { ask: 'open' }>): Promise<number> {
  const { url, streams, perSecond, ...asked } = question;
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: false });
  const { body, headers } = chatRequest({ ...asked, stream: true });
  const options = { agent, hostname, port, path: chatPath, method: 'POST', headers };
  const answered: Promise<IncomingMessage>[] = [];
  const begun: Promise<unknown>[] = [];
  let under = 0;
  const startedAt = performance.now();
  for (let number = 0; number < streams; number++) {
    const wait = startedAt + (number / perSecond) * 1000 - performance.now();
    if (wait > 0) await pause(wait);
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      request(options, resolve).once('error', reject).end(body);
    });
    answered.push(answer);
    begun.push(
      answer.then((response) => {
        if (response.statusCode !== 200) throw new Error(`a stream was answered with status ${response.statusCode}`);
        under++;
        response.once('close', () => under--);
        return new Promise((resolve) => response.once('data', resolve));
      }),
    );
  }
  ends = answered.map(async (answer) => {
    const response = await answer;
    if (!response.closed) await new Promise((resolve) => response.once('close', resolve));
    return response.complete;
  });
  await Promise.all(begun);
  return under;
}

answerParent<OpenStreamsQuestion, OpenStreamsAnswer>(async (question) =>
  question.ask === 'open'
    ? { streams: await open(question) }
    : { streams: (await Promise.all(ends)).filter(Boolean).length },
);
