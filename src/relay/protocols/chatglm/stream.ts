import type { StreamStep } from '../../contracts/protocol.js';
import { LineTooLong } from '../../upstream/sse.js';
import { unreadableAnswer } from '../../upstream/upstream-error.js';
import { WrappedStream } from '../wrapped-stream.js';
import { ChatglmEvents } from './events.js';

/** A stream whose events are put into such of JSON, and read as those. */
export class ChatglmStream extends WrappedStream {
  private readonly events = new ChatglmEvents();

  override get unfinished(): number {
    return this.events.unfinished + this.read.unfinished;
  }

  push(chunk: Buffer): StreamStep {
    try {
      return this.read.push(this.events.push(chunk));
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw error;
      return { bytes: null, error: unreadableAnswer('the upstream sent an event without end'), finished: false };
    }
  }

  override end(): StreamStep {
    const step = this.read.push(this.events.end());
    const last = this.read.end();
    const bytes = [step.bytes, last.bytes].filter((one) => one !== null);
    return { ...last, bytes: bytes.length > 0 ? Buffer.concat(bytes) : null };
  }
}
