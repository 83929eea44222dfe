import { connect, type Socket } from 'node:net';

/* Clients that write their requests by hand, and need not close their side when the server does. */

interface RawClient {
  readonly socket: Socket;
  /** All that has been answered, once `enough` says so or the server has closed its side. */
  answer(enough?: (text: string) => boolean): Promise<string>;
  /** Resolves when nothing is left of the connection. */
  readonly closed: Promise<void>;
}

export function rawClient(port: number): RawClient {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  let ended = false;
  let look = (): void => {};
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece;
    look();
  });
  socket.on('end', () => {
    ended = true;
    look();
  });
  socket.on('error', () => {});
  return {
    socket,
    answer: (enough = () => false) =>
      new Promise((resolve) => {
        look = () => {
          if (ended || enough(text)) resolve(text);
        };
        look();
      }),
    closed: new Promise((resolve) => socket.once('close', () => resolve())),
  };
}

/** Has asked for a WebSocket. */
export function rawUpgrade(port: number, path: string): RawClient {
  const client = rawClient(port);
  const lines = [`GET ${path} HTTP/1.1`, 'host: gateway', 'connection: upgrade', 'upgrade: websocket'];
  const handshake = ['sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='];
  client.socket.write([...lines, ...handshake, '', ''].join('\r\n'));
  return client;
}
