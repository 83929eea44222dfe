import { Readable } from 'node:stream';
import { bodyOf, type RequestContent } from './request-content.js';

/*
 * The client keeps a request's body until its answer has ended, which with a stream takes minutes. Of a stream it keeps
 * nothing that it has sent; but sending one takes more work, so short bodies stay as they are.
 */

/** In bytes, or in units of a text. */
const shortBody = 16 * 1024;

/** The body as the client is to have it. A stream's length it knows, for all of it is there. */
export function leaving(content: RequestContent): string | Buffer | Readable | null {
  if (content.kind === 'json' && content.encoded !== undefined) return streamOf(content.encoded);
  const body = bodyOf(content);
  return body === null || body.length <= shortBody ? body : streamOf([body]);
}

function streamOf(pieces: readonly (string | Buffer)[]): Readable {
  const stream = new Readable({ read() {} });
  for (const piece of pieces) stream.push(piece);
  stream.push(null);
  return stream;
}
