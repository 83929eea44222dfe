import type { Usage } from '../../domain/call/usage.js';
import type { AnswerWriter } from '../contracts/answer-writer.js';
import type { Answer, AnswerStream, Generated, StreamInput, StreamStep } from '../contracts/protocol.js';
import { writerFor } from './caller-calls.js';

const nothing: StreamStep = { bytes: null, error: null, finished: true };

export type AnsweredWhole = Extract<Answer, { ok: true }>;
export type AskedAsStream = Omit<StreamInput, 'provider'>;

/** An answer that came whole, as the stream that was asked for: nothing more comes of it but its closing. */
export abstract class AsStream implements AnswerStream {
  readonly unfinished = 0;
  readonly progress = 1;
  readonly begun = true;
  readonly usage: Usage | null;
  readonly generated: Generated;
  protected readonly writer: AnswerWriter;

  constructor({ usage, generated }: AnsweredWhole, { channel, caller, info }: AskedAsStream) {
    this.usage = usage;
    this.generated = generated;
    this.writer = writerFor(caller, channel, info);
  }

  /** Writes everything that comes before the closing, once. */
  protected abstract write(): void;

  frames(): Buffer | null {
    this.write();
    return this.writer.take();
  }

  get nextSequence(): number {
    return this.writer.nextSequence ?? 0;
  }

  push(): StreamStep {
    return nothing;
  }

  end(): StreamStep {
    return nothing;
  }

  closing(usage: Usage): Buffer {
    return this.writer.closing(usage);
  }
}
