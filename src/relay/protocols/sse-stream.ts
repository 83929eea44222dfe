import { completionTokens, type Usage } from '../../domain/call/usage.js';
import type { AnswerWriter } from '../contracts/answer-writer.js';
import type {
  AnswerStream,
  CallerRequest,
  CallInfo,
  Generated,
  StreamStep,
  UpstreamChannel,
} from '../contracts/protocol.js';
import { type FrameReader, LineTooLong, maxLineLength, SseDecoder } from '../upstream/sse.js';
import { type UpstreamError, unreadableAnswer } from '../upstream/upstream-error.js';
import { writerFor } from './caller-calls.js';

/** Patterns that nothing followed, one after the other, before none is looked for any more: a stream may have none. */
export const maxStrayPatterns = 32;

/** A stream of events, whatever a wire says in them: it reads each, and passes the caller's writer what it says. */
export abstract class SseStream implements AnswerStream, FrameReader {
  usage: Usage | null = null;
  progress = 0;
  begun = false;
  abstract readonly generated: Generated;
  protected readonly writer: AnswerWriter;
  protected error: UpstreamError | null = null;
  /** Upstream said that it is done, or its wire has no way to and it closed. */
  protected finished = false;
  /** What came was too long to be read, and may have been an answer. */
  unread = false;
  private readonly decoder: SseDecoder;

  constructor(channel: UpstreamChannel, caller: CallerRequest, info: CallInfo, maxLine = maxLineLength) {
    this.decoder = new SseDecoder(this, maxLine);
    this.writer = writerFor(caller, channel, info);
  }

  abstract frame(bytes: Buffer, start: number, end: number, from: number): void;

  get unfinished(): number {
    return this.decoder.unfinished + (this.writer.kept ?? 0);
  }

  get nextSequence(): number {
    return this.writer.nextSequence ?? 0;
  }

  push(chunk: Buffer): StreamStep {
    try {
      this.decoder.push(chunk);
    } catch (error) {
      this.unreadable(error);
    }
    return this.step();
  }

  end(): StreamStep {
    try {
      this.decoder.end();
    } catch (error) {
      this.unreadable(error);
    }
    this.closed();
    return this.step();
  }

  closing(usage: Usage): Buffer {
    return this.writer.closing(usage);
  }

  /** Upstream has closed, and all it sent has been read. */
  protected closed(): void {}

  /** Usage alone is no answer, and the same again is nothing new. */
  protected take(usage: Usage): void {
    const { usage: before } = this;
    if (this.progress > 0 && (before === null || completionTokens(usage) > completionTokens(before))) this.progress++;
    this.usage = usage;
  }

  private unreadable(error: unknown): void {
    if (!(error instanceof LineTooLong)) throw error;
    this.unread = true;
    this.error = unreadableAnswer('the upstream sent a line without end');
  }

  private step(): StreamStep {
    return { bytes: this.writer.take(), error: this.error, finished: this.finished };
  }
}
