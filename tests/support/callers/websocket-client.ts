import { once } from 'node:events';
import { WebSocket } from 'ws';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { until } from '../until.js';

/* A client of the Responses interface over a WebSocket, that sees each event as it was sent. */

export interface SocketClient {
  readonly socket: WebSocket;
  /** All that has come. */
  readonly events: readonly JsonObject[];
  send(event: JsonObject | string | Buffer): void;
  /** Sends `response.create` and resolves with what comes of it. */
  create(request: JsonObject): Promise<readonly JsonObject[]>;
  /** The next event that ends a response, and what came since the last one. */
  answer(): Promise<readonly JsonObject[]>;
  readonly closed: Promise<number>;
  close(): void;
}

const last: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

/** What was answered instead of a WebSocket. */
export class NotUpgraded extends Error {
  constructor(
    readonly status: number,
    readonly body: string,
  ) {
    super(`refused with ${status}`);
  }
}

/** Throws NotUpgraded. */
export async function openSocket(
  url: string,
  apiKey: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<SocketClient> {
  const address = `${url.replace(/^http/, 'ws')}/v1/responses`;
  // The library packs messages that are worth it, as agents do.
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${apiKey}`, ...headers } });
  const events: JsonObject[] = [];
  let taken = 0;
  socket.on('message', (data) => {
    const event = parseJson(String(data));
    if (isObject(event)) events.push(event);
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close').then(([code]) => Number(code));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_request, response) => {
      let body = '';
      response.on('data', (piece: Buffer) => {
        body += String(piece);
      });
      response.once('end', () => reject(new NotUpgraded(response.statusCode ?? 0, body)));
    });
    socket.once('close', () => reject(new Error('closed before it was open')));
  });
  const answer = () =>
    until(async () => {
      const end = events.findIndex(({ type }, at) => at >= taken && last.has(type));
      if (end < 0) return null;
      const came = events.slice(taken, end + 1);
      taken = end + 1;
      return came;
    });
  const send = (event: JsonObject | string | Buffer): void =>
    socket.send(typeof event === 'string' || Buffer.isBuffer(event) ? event : JSON.stringify(event));
  return {
    socket,
    events,
    send,
    answer,
    create: (request) => {
      send({ type: 'response.create', ...request });
      return answer();
    },
    closed,
    close: () => socket.close(),
  };
}
