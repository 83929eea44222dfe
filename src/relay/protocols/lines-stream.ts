import type { StreamStep } from '../contracts/protocol.js';
import { WrappedStream } from './wrapped-stream.js';

const event = 'data: ';
const lineFeed = 10;
const between = Buffer.from(`\n\n${event}`);

/** A stream that is one JSON value in each line (NDJSON): each is put into an event in text, and read as that. */
export class LinesStream extends WrappedStream {
  private begins = true;

  push(chunk: Buffer): StreamStep {
    return this.read.push(this.asEvents(chunk));
  }

  private asEvents(chunk: Buffer): Buffer {
    const parts: Buffer[] = this.begins && chunk.length > 0 ? [Buffer.from(event)] : [];
    if (chunk.length > 0) this.begins = false;
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      parts.push(chunk.subarray(from, at), between);
      from = at + 1;
    }
    return Buffer.concat([...parts, chunk.subarray(from)]);
  }
}
