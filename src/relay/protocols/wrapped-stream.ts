import type { Usage } from '../../domain/call/usage.js';
import type { AnswerStream, Generated, StreamStep } from '../contracts/protocol.js';
import type { UpstreamError } from '../upstream/upstream-error.js';

/** A stream whose bytes are put into another form, and read there. Says what is read says, unless a form knows better. */
export abstract class WrappedStream implements AnswerStream {
  constructor(protected readonly read: AnswerStream) {}

  abstract push(chunk: Buffer): StreamStep;

  end(): StreamStep {
    return this.read.end();
  }

  closing(usage: Usage): Buffer {
    return this.read.closing(usage);
  }

  get nextSequence(): number {
    return this.read.nextSequence ?? 0;
  }

  get unfinished(): number {
    return this.read.unfinished;
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

  get worksUnseen(): boolean {
    return this.read.worksUnseen ?? false;
  }

  get failure(): UpstreamError | null {
    return this.read.failure ?? null;
  }

  get failed(): boolean {
    return this.read.failed ?? false;
  }
}
