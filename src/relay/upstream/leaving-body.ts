import { Readable } from 'node:stream';

/*
 * The client keeps a request's body until its answer has ended, which with a stream takes minutes. Of a stream it keeps
 * nothing that it has sent; but sending one takes more work, so short bodies stay as they are.
 */

/** In bytes, or in units of a text. */
const shortBody = 16 * 1024;

/** The body as the client is to have it. A stream's length it knows, for all of it is there. */
export function leaving(body: string | Buffer | null): string | Buffer | Readable | null {
  if (body === null || body.length <= shortBody) return body;
  const stream = new Readable({ read() {} });
  stream.push(body);
  stream.push(null);
  return stream;
}
