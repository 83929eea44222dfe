import { request as httpRequest } from 'node:http';
import WebSocket from 'ws';
import type { Answer } from './judge.js';
import type { FuzzRequest } from './request.js';

/* One request over real HTTP, as it is: no header is added but the length. */

/** An answer that has not ended by then never will. */
const patienceMs = 60_000;
const maxRead = 2_000_000;

export function send(
  url: string,
  { method, path, headers, body }: FuzzRequest,
  credentials: Readonly<Record<string, string>>,
): Promise<Answer> {
  const started = performance.now();
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const done = (answer: Omit<Answer, 'elapsedMs'>): void =>
      resolve({ ...answer, elapsedMs: performance.now() - started });
    const nothing = { status: null, headers: {}, body: '' };
    let outgoing: ReturnType<typeof httpRequest>;
    try {
      outgoing = httpRequest({
        hostname,
        port,
        method,
        path,
        agent: false,
        setHost: headers.host === undefined,
        headers: {
          ...credentials,
          ...headers,
          ...(body === null ? {} : { 'content-length': String(body.length) }),
        },
        signal: AbortSignal.timeout(patienceMs),
      });
    } catch {
      // Node itself will not send such an address or header: nothing reached the gateway.
      done({ status: 0, headers: { 'x-content-type-options': 'nosniff' }, body: '' });
      return;
    }
    outgoing.on('error', () => done(nothing));
    outgoing.on('response', (response) => {
      const pieces: Buffer[] = [];
      let read = 0;
      response.on('data', (piece: Buffer) => {
        read += piece.length;
        if (read <= maxRead) pieces.push(piece);
      });
      const finish = () =>
        done({
          status: response.statusCode ?? null,
          headers: response.headers,
          body: Buffer.concat(pieces).toString('utf8'),
          cut: !response.complete,
        });
      response.on('end', finish);
      // A stream that its upstream broke off may end early; what came counts.
      response.on('error', finish);
    });
    outgoing.end(body ?? undefined);
  });
}

/** Opens a socket, says its frames, and waits until the other side has closed it or has said nothing more for a while. */
export function converse(
  url: string,
  { path, body }: FuzzRequest,
  credentials: Readonly<Record<string, string>>,
): Promise<Answer> {
  const started = performance.now();
  return new Promise((resolve) => {
    const done = (status: number | null): void =>
      resolve({ status, headers: {}, body: '', elapsedMs: performance.now() - started });
    const socket = new WebSocket(url.replace('http', 'ws') + path, 'graphql-transport-ws', {
      headers: { origin: url, ...credentials },
      handshakeTimeout: patienceMs,
    });
    let quiet: NodeJS.Timeout | undefined;
    socket.on('unexpected-response', (_request, response) => done(response.statusCode ?? null));
    socket.on('error', () => done(null));
    socket.on('open', () => {
      quiet = setTimeout(() => socket.close(), 300);
      for (const frame of (body ?? Buffer.alloc(0)).toString('utf8').split('\n')) socket.send(frame);
    });
    socket.on('message', () => quiet?.refresh());
    socket.on('close', () => {
      clearTimeout(quiet);
      done(101);
    });
  });
}
