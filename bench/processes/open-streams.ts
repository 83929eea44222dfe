import { Agent, type IncomingMessage, request } from 'node:http';
import { chatPath, chatRequest } from './chat-request.js';
import { answerParent } from './child.js';

/* Streams that stay open: many callers that all wait for the rest of a slow answer, so that memory can be looked at. */

export type OpenStreamsQuestion =
  | {
      readonly ask: 'open';
      readonly url: string;
      readonly apiKey: string;
      readonly model: string;
      /** Beside those that are open already. */
      readonly streams: number;
      readonly promptBytes: number;
    }
  | { readonly ask: 'finish' };

/** To `open`: how many had begun to arrive and had not ended; to `finish`: how many came to their end. */
export interface OpenStreamsAnswer {
  readonly streams: number;
}

/** Whoever listens keeps so many waiting and no more: beyond a few hundred, connections are lost on a busy machine. */
const beginningAtOnce = 64;

const streams: IncomingMessage[] = [];

async function open({ url, streams: wanted, ...asked }: Extract<OpenStreamsQuestion, { ask: 'open' }>) {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: false });
  const { body, headers } = chatRequest({ ...asked, stream: true });
  const options = { agent, hostname, port, path: chatPath, method: 'POST', headers };

  /** Resolves with the first bytes. */
  const begin = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(options, (response) => {
        streams.push(response);
        if (response.statusCode === 200) response.once('data', () => resolve());
        else reject(new Error(`a stream was answered with status ${response.statusCode}`));
      });
      sent.on('error', reject).end(body);
    });

  let left = wanted;
  const opener = async (): Promise<void> => {
    while (left-- > 0) await begin();
  };
  await Promise.all(Array.from({ length: beginningAtOnce }, opener));
  return streams.filter(({ closed }) => !closed).length;
}

async function finish(): Promise<number> {
  await Promise.all(
    streams.map((response) => response.closed || new Promise((resolve) => response.once('close', resolve))),
  );
  return streams.filter(({ complete }) => complete).length;
}

answerParent<OpenStreamsQuestion, OpenStreamsAnswer>(async (question) => ({
  streams: question.ask === 'open' ? await open(question) : await finish(),
}));
