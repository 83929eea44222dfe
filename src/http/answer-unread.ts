import type { IncomingMessage, ServerResponse } from 'node:http';

/*
 * An answer to a request whose body was not read. The connection cannot be used again, and closing it at once would
 * reset it: the caller, still sending, would see a broken connection instead of the answer. So the answer goes out, a
 * little more is taken from the wire, and then, or when the caller has understood, the connection ends.
 */

const takenBytes = 64 * 1024;
const patienceMs = 2_000;

/** Whether more of the request is to come than has been received. */
export const isUnread = ({ complete }: IncomingMessage): boolean => !complete;

/** The header has to announce `connection: close` and the length of the body. */
export function endUnread(request: IncomingMessage, response: ServerResponse, body: string | Buffer): void {
  response.write(body);
  let taken = 0;
  const take = (piece: Buffer): void => {
    taken += piece.length;
    // Unread bytes beyond this stay with the operating system, which makes the sender wait.
    if (taken > takenBytes) request.pause();
  };
  const end = (): void => {
    clearTimeout(patience);
    request.off('data', take);
    request.off('end', end);
    response.off('close', end);
    response.end();
  };
  const patience = setTimeout(end, patienceMs).unref();
  request.on('data', take);
  request.once('end', end);
  response.once('close', end);
  request.resume();
}
