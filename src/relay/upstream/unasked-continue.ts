import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/*
 * Some servers announce every answer with `100 Continue`, whether it was asked for or not. HTTP allows it; the client
 * takes it for a broken server. So it is skipped before the client sees it.
 */

const announcement = Buffer.from('HTTP/1.1 100');
const headEnd = '\r\n\r\n';
const maxHeadLength = 16 * 1024;

function skipAnnouncements(socket: Socket): void {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...written: unknown[]) => boolean;
  /** A request has been sent, and nothing of its answer has been passed on. */
  let awaiting = false;
  let held: Buffer | null = null;

  socket.write = (...written: unknown[]): boolean => {
    const [head] = written;
    // The client writes heads as text, and bodies as bytes.
    if (typeof head === 'string' && head.startsWith('POST ')) awaiting = true;
    return write(...written);
  };

  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const piece: Buffer | null = read(size);
      if (piece === null || !awaiting) return piece;
      let begin: Buffer = held === null ? piece : Buffer.concat([held, piece]);
      held = null;
      for (;;) {
        const compared = Math.min(begin.length, announcement.length);
        const announced = announcement.compare(begin, 0, compared, 0, compared) === 0;
        const end = announced ? begin.indexOf(headEnd) : -1;
        if (!announced || (end === -1 && begin.length > maxHeadLength)) {
          awaiting = false;
          return begin;
        }
        if (end === -1) break;
        begin = begin.subarray(end + headEnd.length);
      }
      held = begin;
    }
  };
}

/** Connections whose servers may announce what they like. */
export const skippingContinue =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...connected) => {
      const [, socket] = connected;
      // A proxy that could not be reached gives no socket at all.
      if (socket) skipAnnouncements(socket);
      callback(...connected);
    });
