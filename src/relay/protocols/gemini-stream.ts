import type { Usage } from '../../domain/usage.js';
import type { AnswerWriter } from '../answer-writer.js';
import type { Confidential } from '../upstream/confidential.js';
import { type FrameReader, LineTooLong, SseDecoder } from '../upstream/sse.js';
import { type UpstreamError, unreadableAnswer } from '../upstream/upstream-error.js';
import { GeminiReader } from './gemini-answer.js';
import { geminiFailureIn } from './gemini-failure.js';
import { isNative } from './gemini-native.js';
import { geminiUsage } from './gemini-usage.js';
import { isObject, type JsonObject, parseJson } from './json.js';
import type { AnswerStream, CallerRequest, CallInfo, StreamStep, UpstreamChannel } from './protocol.js';
import { isWellShaped } from './upstream-json.js';

/**
 * A stream of `GenerateContentResponse`s, each with what is new in it. There is no end mark: it ends when all candidates
 * have finished and the connection closes.
 */
export class GeminiStream implements AnswerStream, FrameReader {
  usage: Usage | null = null;
  readonly generated: GeminiReader;
  private readonly decoder = new SseDecoder(this);
  private readonly writer: AnswerWriter;
  /** The caller speaks this wire: frames need not be written anew. */
  private readonly forwards: boolean;
  private error: UpstreamError | null = null;
  private ended = false;

  constructor(
    channel: UpstreamChannel,
    private readonly confidential: Confidential,
    caller: CallerRequest,
    info: CallInfo,
  ) {
    this.generated = new GeminiReader(info);
    this.writer = caller.dialect.writer(caller, channel, info);
    this.forwards = isNative(caller);
  }

  get unfinished(): number {
    return this.decoder.unfinished;
  }

  push(chunk: Buffer): StreamStep {
    return this.step(() => this.decoder.push(chunk));
  }

  end(): StreamStep {
    return this.step(() => {
      this.decoder.end();
      this.ended = true;
    });
  }

  closing(usage: Usage): Buffer {
    return this.writer.closing(usage);
  }

  frame(bytes: Buffer, start: number, end: number, from: number): void {
    if (this.error !== null || !isWellShaped(bytes, start, end)) return;
    const response = parseJson(bytes.toString('utf8', start, end));
    if (!isObject(response)) return;
    this.error = geminiFailureIn(response, this.confidential, this.forwards);
    if (this.error !== null) return;
    const choices = this.read(response);
    if (this.forwards) this.writer.forward(response, bytes, start, end, from);
    else for (const choice of choices) this.writer.write(choice, end - start);
  }

  /** The chunks that a response amounts to. */
  private read(response: JsonObject): JsonObject[] {
    const { generated, writer } = this;
    const choices = generated.choices(response, false);
    if (generated.endless) this.error = unreadableAnswer('the upstream sent a call of a function that makes no sense');
    const usage = geminiUsage(response.usageMetadata);
    if (usage !== null) {
      this.usage = usage;
      writer.usage(usage, null, null, null);
    }
    const head = generated.head(response, 'chat.completion.chunk');
    return choices.map((choice) => ({ ...head, choices: [choice] }));
  }

  private step(read: () => void): StreamStep {
    try {
      read();
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw error;
      this.error = unreadableAnswer('the upstream sent a line without end');
    }
    const finished = this.ended && this.error === null && this.generated.finishReason !== null;
    return { bytes: this.writer.take(), error: this.error, finished };
  }
}
