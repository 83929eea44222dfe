import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { takeAsPlainRequest } from './plain-request.js';

/*
 * Upgrades of HTTP connections (WebSocket), by path: each path has one owner. What nobody owns is refused in HTTP, or in
 * a worker handed to the primary.
 */

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** What a peer has for closing its side once ours is closed. */
const closingMs = 2_000;
/** Of a path, as the answer repeats it. */
const maxShown = 200;

export class UpgradeRouter {
  private readonly owners = new Map<string, UpgradeHandler>();

  /** `unowned`: takes what nobody owns; left out: answers 404. `failed`: gets what an owner throws. */
  constructor(
    private readonly failed: (error: unknown) => void,
    private readonly unowned: UpgradeHandler = refuseUnknown,
  ) {}

  /** `path`: the whole of it, without the query. Throws where it is owned already. The result gives it up. */
  own(path: string, handler: UpgradeHandler): () => void {
    if (this.owners.has(path)) throw new Error(`Upgrades of ${path} are owned already`);
    this.owners.set(path, handler);
    return () => {
      if (this.owners.get(path) === handler) this.owners.delete(path);
    };
  }

  /** Takes the server's upgrades. To anything but a WebSocket (`h2c`) nobody upgrades: that is a plain request. */
  listenTo(server: Server): void {
    server.on('upgrade', (request, socket, head) => {
      if (request.headers.upgrade?.toLowerCase() === 'websocket') this.route(request, socket, head);
      else takeAsPlainRequest(server, request, socket, head);
    });
  }

  /** What fails ends this connection and not the process. */
  private route(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node leaves the socket without a listener, and a reset nobody listens for would end the process.
    socket.on('error', () => {});
    const handler = this.owners.get(pathOf(request)) ?? this.unowned;
    try {
      handler(request, socket, head);
    } catch (error) {
      this.failed(error);
      refuseUpgrade(socket, '500 Internal Server Error');
    }
  }
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

/**
 * Answers in HTTP and closes the connection. `status`: code and reason; `json`: the body, as an object or written; left
 * out: none. `headers`: names and values in turn.
 */
export function refuseUpgrade(
  socket: Duplex,
  status: string,
  json?: object | string,
  headers: readonly string[] = [],
): void {
  const body = json === undefined ? '' : typeof json === 'string' ? json : JSON.stringify(json);
  const type = json === undefined ? '' : 'Content-Type: application/json; charset=utf-8\r\n';
  const more = headers.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  const length = Buffer.byteLength(body);
  destroyOnceEnded(socket);
  // What the client still sends is let through: with unread bytes the answer would be lost in a reset.
  socket.resume();
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\n${more}${type}Content-Length: ${length}\r\n\r\n${body}`,
  );
}

/** Once our side is closed the connection ends soon, whether the peer closes its own or not. */
export function destroyOnceEnded(socket: Duplex): void {
  socket.once('finish', () => {
    const impatience = setTimeout(() => socket.destroy(), closingMs).unref();
    socket.once('close', () => clearTimeout(impatience));
  });
}

function refuseUnknown(request: IncomingMessage, socket: Duplex): void {
  const path = pathOf(request).slice(0, maxShown);
  const message = `Invalid URL (${request.method} ${path}): nothing here takes a WebSocket`;
  refuseUpgrade(socket, '404 Not Found', {
    error: { message, type: 'invalid_request_error', param: '', code: '' },
  });
}
