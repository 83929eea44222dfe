import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as overHttp } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import { text } from 'node:stream/consumers';

/* A client somewhere: another address of this machine than the proxy's own towards the gateway. */

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** Resolves once the head is there. */
export function begin(
  port: number,
  path: string,
  from: string,
  { method = 'GET', headers = {}, body }: Sent,
  agent: Agent | false = false,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options: RequestOptions = {
      ...{ host: '127.0.0.1', port, path, method, agent, localAddress: from },
      ...{ servername: 'localhost', rejectUnauthorized: false },
      headers: { host: `localhost:${port}`, ...length, ...headers },
    };
    request(options, resolve).once('error', reject).end(body);
  });
}

async function whole(response: IncomingMessage): Promise<Answer> {
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

export const ask = async (port: number, path: string, from: string, sent: Sent = {}, agent?: Agent): Promise<Answer> =>
  whole(await begin(port, path, from, sent, agent));

/** Without TLS. */
export const askPlainly = (port: number, path: string, from: string, { method, headers, body }: Sent = {}) =>
  new Promise<Answer>((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    overHttp(
      { host: '127.0.0.1', port, path, method, localAddress: from, headers: { ...length, ...headers } },
      (response) => resolve(whole(response)),
    )
      .once('error', reject)
      .end(body);
  });

export const keptOpen = (): Agent => new Agent({ keepAlive: true, maxSockets: 1 });
