import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import type { JsonObject } from '../../../src/relay/json/json.js';

/* Callers on plain HTTP, for what an official client hides: headers, frames as they were sent, cut connections. */

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** All that was read of the body. */
  readonly text: string;
  /** Of the answer's header; '' without one. */
  readonly requestId: string;
}

interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: JsonObject | string | Buffer;
  /** Hangs up when it aborts; the call then rejects. */
  readonly signal?: AbortSignal;
  /** Hangs up as soon as the text read so far satisfies it; the answer holds that text. */
  readonly enough?: (text: string) => boolean;
  /** Called with the request id as soon as the headers are there: a call may be cut off after them. */
  readonly onHeaders?: (requestId: string) => void;
}

export interface Caller {
  send(path: string, sending?: Sending): Promise<Answer>;
  /** One message, unless the body brings its own. */
  chat(body: JsonObject, sending?: Sending): Promise<Answer>;
}

export interface Callers {
  /** `apiKey` with `sk-`, or whatever the Authorization header shall say after `Bearer `; null: no header. */
  with(apiKey: string | null): Caller;
  close(): Promise<void>;
}

/** Connections are kept alive and used again, as clients do. */
export function openCallers(url: string): Callers {
  const agent = new Agent({ connections: 256, bodyTimeout: 0, headersTimeout: 0 });

  const send = async (path: string, headers: Record<string, string>, sending: Sending): Promise<Answer> => {
    const { method = 'GET', body, signal, enough = () => false, onHeaders = () => undefined } = sending;
    const plain = typeof body === 'string' || Buffer.isBuffer(body);
    const answer = await agent.request({
      origin: url,
      path,
      method: method as Dispatcher.HttpMethod,
      headers: { ...headers, ...sending.headers },
      body: body === undefined || plain ? body : JSON.stringify(body),
      signal,
    });
    const id = answer.headers['x-request-id'];
    const requestId = typeof id === 'string' ? id : '';
    onHeaders(requestId);
    let text = '';
    answer.body.setEncoding('utf8');
    for await (const part of answer.body) {
      text += part;
      // Leaving the loop destroys the body, and the connection with it.
      if (enough(text)) break;
    }
    return { status: answer.statusCode, headers: answer.headers, text, requestId };
  };

  return {
    with(apiKey) {
      const authorization: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
      return {
        send: (path, sending = {}) => send(path, authorization, sending),
        chat: (body, sending = {}) =>
          send(
            '/v1/chat/completions',
            { ...authorization, 'content-type': 'application/json' },
            {
              method: 'POST',
              body: { messages: [{ role: 'user', content: 'What is a ledger?' }], ...body },
              ...sending,
            },
          ),
      };
    },
    close: () => agent.destroy(),
  };
}

/** The members of an error answer. */
export const errorIn = ({
  text,
}: Pick<Answer, 'text'>): { message: string; type: string; param: string; code: string } =>
  (JSON.parse(text) as { error: { message: string; type: string; param: string; code: string } }).error;

/** The data of each frame of a stream, comments left out. */
export const framesIn = ({ text }: Pick<Answer, 'text'>): string[] =>
  text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => frame.slice('data: '.length));

/** The frames of a stream that are chunks. */
export const chunksIn = (answer: Pick<Answer, 'text'>): JsonObject[] =>
  framesIn(answer)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as JsonObject);

/** Whether a caller may take a stream for a whole answer: it came to its end mark, and no error was in it. */
export const isWholeStream = (answer: Pick<Answer, 'text'>): boolean => {
  const frames = framesIn(answer);
  return frames.at(-1) === '[DONE]' && answer.text.endsWith('\n\n') && !chunksIn(answer).some(({ error }) => error);
};
