import { eventOf, LineTooLong, maxLineLength } from '../../upstream/sse.js';

/*
 * Events of version 3 of Zhipu's interface: what is said stands in `data` as plain text, what it is in `event`, and usage
 * in a field of its own, `meta`. Each is put into one event of JSON, to be read as all wires' events are.
 */

const LF = 10;
const CR = 13;
const mark = '\ufeff';

/** Bytes that come in pieces, cut anywhere. */
export class ChatglmEvents {
  /** Of a line that has not ended. */
  private partial: Buffer[] = [];
  private length = 0;
  private lines: string[] = [];
  private begun = false;
  private afterReturn = false;

  /** Bytes kept of an event that is not complete. */
  get unfinished(): number {
    return this.length;
  }

  /** The events that are complete, as JSON. Throws LineTooLong. */
  push(chunk: Buffer): Buffer {
    const events: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte !== LF && byte !== CR) {
        this.afterReturn = false;
        continue;
      }
      const pair = byte === LF && this.afterReturn;
      this.afterReturn = byte === CR;
      if (!pair) this.line(chunk.subarray(from, at), events);
      from = at + 1;
    }
    if (from < chunk.length) this.keep(Buffer.from(chunk.subarray(from)));
    return Buffer.concat(events);
  }

  /** The stream has ended: what is left counts as complete. */
  end(): Buffer {
    const events: Buffer[] = [];
    this.line(Buffer.alloc(0), events);
    this.line(Buffer.alloc(0), events);
    return Buffer.concat(events);
  }

  private keep(piece: Buffer): void {
    this.length += piece.length;
    if (this.length > maxLineLength) throw new LineTooLong();
    this.partial.push(piece);
  }

  private line(rest: Buffer, events: Buffer[]): void {
    const text = Buffer.concat([...this.partial, rest]).toString('utf8');
    this.partial = [];
    const line = !this.begun && text.startsWith(mark) ? text.slice(1) : text;
    this.begun = true;
    if (line !== '') {
      this.length += rest.length;
      if (this.length > maxLineLength) throw new LineTooLong();
      this.lines.push(line);
      return;
    }
    this.length = 0;
    const event = eventIn(this.lines);
    this.lines = [];
    if (event !== null) events.push(event);
  }
}

/** null: there is neither data nor meta. */
function eventIn(lines: readonly string[]): Buffer | null {
  let name = '';
  let meta: string | null = null;
  const data: string[] = [];
  for (const line of lines) {
    const [, field = line, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === 'event') name = value;
    else if (field === 'meta') meta = value;
    else if (field === 'data') data.push(value);
  }
  if (data.length === 0 && meta === null) return null;
  return eventOf(Buffer.from(JSON.stringify({ event: name, text: data.join('\n'), meta })));
}
