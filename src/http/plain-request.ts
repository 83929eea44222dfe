import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Named by whoever wants HTTP/2 without TLS; who is answered in HTTP/1.1 goes on in it. */
const ofUpgrade: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/**
 * Gives a connection back to the server as the plain request that it can be taken for: an upgrade may be ignored, and
 * Node has detached the socket before anybody is asked. Every byte is read again, the body included.
 */
export function takeAsPlainRequest(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const value = rawHeaders[at + 1] ?? '';
    if (ofUpgrade.has(name.toLowerCase())) continue;
    if (name.toLowerCase() !== 'connection') lines.push(`${name}: ${value}`);
    else if (withoutUpgrade(value) !== '') lines.push(`${name}: ${withoutUpgrade(value)}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

const withoutUpgrade = (connection: string): string =>
  connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => !ofUpgrade.has(option.toLowerCase()))
    .join(', ');
