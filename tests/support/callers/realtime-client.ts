import { once } from 'node:events';
import { WebSocket } from 'ws';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { until } from '../until.js';
import { NotUpgraded } from './websocket-client.js';

/* A client of realtime sessions, that sees each event as it was sent. */

export interface RealtimeClient {
  readonly socket: WebSocket;
  /** All that has come. */
  readonly events: readonly JsonObject[];
  send(event: JsonObject | string): void;
  /** The next event of that type. */
  next(type: string): Promise<JsonObject>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

interface Opening {
  readonly path?: string;
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Throws NotUpgraded. */
export async function openRealtime(
  url: string,
  apiKey: string,
  { path = '/v1/realtime?model=m', protocols = [], headers = { authorization: `Bearer ${apiKey}` } }: Opening = {},
): Promise<RealtimeClient> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, [...protocols], { headers });
  const events: JsonObject[] = [];
  let taken = 0;
  socket.on('message', (data) => {
    const event = parseJson(String(data));
    if (isObject(event)) events.push(event);
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close').then(([code, reason]) => ({ code: Number(code), reason: String(reason) }));
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
  return {
    socket,
    events,
    closed,
    send: (event) => socket.send(typeof event === 'string' ? event : JSON.stringify(event)),
    next: (type) =>
      until(async () => {
        const found = events.findIndex((event, at) => at >= taken && event.type === type);
        if (found < 0) return null;
        taken = found + 1;
        return events[found] ?? null;
      }),
  };
}
