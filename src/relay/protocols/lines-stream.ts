import type { Usage } from '../../domain/call/usage.js';
import type { AnswerStream, Generated, StreamStep } from '../contracts/protocol.js';

const event = 'data: ';
const lineFeed = 10;
const between = Buffer.from(`\n\n${event}`);

/** A stream that is one JSON value in each line (NDJSON): each is put into an event in text, and read as that. */
export class LinesStream implements AnswerStream {
  private begins = true;

  constructor(private readonly events: AnswerStream) {}

  get nextSequence(): number {
    return this.events.nextSequence ?? 0;
  }

  get unfinished(): number {
    return this.events.unfinished;
  }

  get usage(): Usage | null {
    return this.events.usage;
  }

  get generated(): Generated {
    return this.events.generated;
  }

  get progress(): number {
    return this.events.progress;
  }

  get begun(): boolean {
    return this.events.begun;
  }

  push(chunk: Buffer): StreamStep {
    return this.events.push(this.asEvents(chunk));
  }

  end(): StreamStep {
    return this.events.end();
  }

  closing(usage: Usage): Buffer {
    return this.events.closing(usage);
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
