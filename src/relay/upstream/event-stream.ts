import { EventStreamCodec } from '@smithy/core/event-streams';
import { ChunkBuffer } from './chunk-buffer.js';

/*
 * The binary frames of Amazon's event streams: how long a frame is stands at its beginning, what it holds is known by its
 * headers, and checksums say that it came whole. Nothing here knows what the frames mean.
 */

/** Bytes. The longest events of a model are blocks that its own tools have found; nothing longer is waited for. */
export const maxFrameLength = 4 * 1024 * 1024;
const lengthBytes = 4;
/** Two lengths and two checksums. */
const minFrameLength = 16;

export interface EventFrame {
  /** The texts among the headers, by their names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** What comes are no frames, or they were damaged. */
export class BrokenFrame extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BrokenFrame';
  }
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text),
);

function frameIn(bytes: Buffer): EventFrame {
  try {
    // A copy of its own: lengths inside a frame are upstream's, and must not reach into what lies beside it in memory.
    const { headers, body } = codec.decode(new Uint8Array(bytes));
    const texts = Object.entries(headers).flatMap(([name, { type, value }]) =>
      type === 'string' ? [[name, value] as const] : [],
    );
    return { headers: new Map(texts), body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
  } catch (error) {
    throw new BrokenFrame('a frame of the event stream is damaged', { cause: error });
  }
}

/** Takes a stream in chunks cut anywhere, and keeps nothing of them but what belongs to an incomplete frame. */
export class EventStreamDecoder {
  private readonly partial = new ChunkBuffer();
  /** Bytes of the frame that has begun; 0: its length is not here yet. */
  private expected = 0;

  /** Bytes kept of a frame that is not complete. */
  get unfinished(): number {
    return this.partial.length;
  }

  /** The frames that end in this chunk. Throws BrokenFrame, after those that came before it. */
  *push(chunk: Buffer): Generator<EventFrame> {
    for (let at = 0; at < chunk.length; ) {
      const wanted = (this.expected || lengthBytes) - this.partial.length;
      const piece = chunk.subarray(at, at + wanted);
      at += piece.length;
      if (piece.length < wanted) {
        this.partial.add(Buffer.from(piece));
        return;
      }
      this.partial.add(piece);
      const taken = this.partial.take();
      if (this.expected === 0) this.begin(taken);
      else {
        this.expected = 0;
        yield frameIn(taken);
      }
    }
  }

  private begin(length: Buffer): void {
    const announced = length.readUInt32BE(0);
    if (announced < minFrameLength || announced > maxFrameLength)
      throw new BrokenFrame(`a frame of the event stream announces ${announced} bytes`);
    this.expected = announced;
    this.partial.add(length);
  }
}
