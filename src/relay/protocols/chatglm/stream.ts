import type { Usage } from '../../../domain/call/usage.js';
import type { AnswerStream, Generated, StreamStep } from '../../contracts/protocol.js';
import { LineTooLong } from '../../upstream/sse.js';
import { unreadableAnswer } from '../../upstream/upstream-error.js';
import { ChatglmEvents } from './events.js';

/** A stream whose events are put into such of JSON, and read as those. */
export class ChatglmStream implements AnswerStream {
  private readonly events = new ChatglmEvents();

  constructor(private readonly read: AnswerStream) {}

  get nextSequence(): number {
    return this.read.nextSequence ?? 0;
  }

  get unfinished(): number {
    return this.events.unfinished + this.read.unfinished;
  }

  get usage(): Usage | null {
    return this.read.usage;
  }

  get generated(): Generated {
    return this.read.generated;
  }

  get progress(): number {
    return this.read.progress;
  }

  get begun(): boolean {
    return this.read.begun;
  }

  push(chunk: Buffer): StreamStep {
    try {
      return this.read.push(this.events.push(chunk));
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw error;
      return { bytes: null, error: unreadableAnswer('the upstream sent an event without end'), finished: false };
    }
  }

  end(): StreamStep {
    const step = this.read.push(this.events.end());
    const last = this.read.end();
    const bytes = [step.bytes, last.bytes].filter((one) => one !== null);
    return { ...last, bytes: bytes.length > 0 ? Buffer.concat(bytes) : null };
  }

  closing(usage: Usage): Buffer {
    return this.read.closing(usage);
  }
}
