import { Outgoing } from '../../upstream/sse.js';

/* How responses follow each other in a stream: as events, or as the members of a JSON array. */

export interface Frames {
  /** Data without a line end. */
  frame(data: Buffer): void;
  /** The frame `bytes[from..end + 2)`, whose data begins at `start`, as it came. */
  pass(bytes: Buffer, from: number, start: number, end: number): void;
  /** null: nothing was collected. */
  take(): Buffer | null;
  /** What is collected, and the end. */
  close(): Buffer;
}

const nothing = Buffer.alloc(0);

export class EventFrames implements Frames {
  private readonly outgoing = new Outgoing();

  frame(data: Buffer): void {
    this.outgoing.frame(data);
  }

  pass(bytes: Buffer, from: number, _start: number, end: number): void {
    this.outgoing.pass(bytes, from, end + 2);
  }

  take(): Buffer | null {
    return this.outgoing.take();
  }

  close(): Buffer {
    return this.take() ?? nothing;
  }
}

const opening = Buffer.from('[');
const comma = Buffer.from(',\r\n');
const closing = Buffer.from(']');

export class ArrayFrames implements Frames {
  private parts: Buffer[] = [];
  private begun = false;

  frame(data: Buffer): void {
    this.parts.push(this.begun ? comma : opening, data);
    this.begun = true;
  }

  pass(bytes: Buffer, _from: number, start: number, end: number): void {
    this.frame(bytes.subarray(start, end));
  }

  take(): Buffer | null {
    if (this.parts.length === 0) return null;
    const all = Buffer.concat(this.parts);
    this.parts = [];
    return all;
  }

  close(): Buffer {
    this.parts.push(...(this.begun ? [] : [opening]), closing);
    return this.take() ?? nothing;
  }
}
