import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

/* An upstream that speaks WebSocket, and does with each message what one test needs. */

export interface WebSocketUpstream {
  /** `http://`: the scheme a channel's address has. */
  readonly url: string;
  /** Connections that are open. */
  open(): number;
  stop(): Promise<void>;
}

export interface WebSocketBehaviour {
  serve(message: string, socket: WebSocket, request: IncomingMessage): void;
  /** Answers the handshake with something else; false: it does not. */
  refuse?(request: IncomingMessage, socket: Duplex): boolean;
}

export async function startWebSocketUpstream({
  serve,
  refuse = () => false,
}: WebSocketBehaviour): Promise<WebSocketUpstream> {
  const server = createServer((_, response) => void response.end('this is no WebSocket'));
  const webSockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {});
    if (refuse(request, socket)) return;
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('error', () => {});
      webSocket.once('message', (message) => serve(String(message), webSocket, request));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    open: () => webSockets.clients.size,
    async stop() {
      const closed = once(server, 'close');
      for (const client of webSockets.clients) client.terminate();
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An answer to a handshake in plain HTTP. */
export const httpAnswer = (status: number, body: string): string =>
  `HTTP/1.1 ${status} -\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
