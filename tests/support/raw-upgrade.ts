import { connect, type Socket } from 'node:net';

/* A client that asks for an upgrade by hand, and need not close its side when the server does. */

export interface RawUpgrade {
  readonly socket: Socket;
  /** All that has been answered, once `enough` says so or the server has closed its side. */
  answer(enough?: (text: string) => boolean): Promise<string>;
  /** Resolves when nothing is left of the connection. */
  readonly closed: Promise<void>;
}

export function rawUpgrade(port: number, path: string, method = 'GET'): RawUpgrade {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const lines = [`${method} ${path} HTTP/1.1`, 'host: gateway', 'connection: upgrade', 'upgrade: websocket'];
  const handshake = ['sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='];
  socket.write([...lines, ...handshake, '', ''].join('\r\n'));
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
