import type { Usage } from '../../domain/pricing.js';
import type { Confidential } from '../upstream/confidential.js';
import { type FrameReader, LineTooLong, Outgoing, SseDecoder } from '../upstream/sse.js';
import { type UpstreamError, unreadableAnswer } from '../upstream/upstream-error.js';
import { isObject, type JsonObject } from './json.js';
import type { OpenAiDialect, Reading } from './openai-dialect.js';
import { failureIn } from './openai-failure.js';
import { Generation, mendChoice, messageIn, strictlyFormatted } from './openai-reply.js';
import { mendedUsage, readUsage, writtenUsage } from './openai-usage.js';
import type { AnswerStream, CallerRequest, CallInfo, StreamStep, UpstreamChannel } from './protocol.js';
import { ThinkingStream } from './thinking-stream.js';
import { isWellShaped } from './upstream-json.js';

const done = Buffer.from('[DONE]');

/** Of longer chunks nothing is remembered: a stream may wait for ever for the next. */
const longestRemembered = 64 * 1024;

/** Members in which some upstreams repeat the usage of a chunk. */
const usageCopies = ['x_groq'];

/**
 * A stream of the OpenAI family. A chunk goes to the caller as it came, at once, unless something in it must be
 * changed. Usage goes last, in a chunk of its own, and only to a caller who asked for it, wherever upstream put it.
 */
export class OpenAiStream implements AnswerStream, FrameReader {
  usage: Usage | null = null;
  readonly generated = new Generation();
  private readonly decoder = new SseDecoder(this);
  private readonly outgoing = new Outgoing();
  private readonly thinking: ThinkingStream | null;
  private readonly reading: Reading;
  private error: UpstreamError | null = null;
  private finished = false;
  private frames = 0;
  /** The newest chunk: what this side writes must bear the same id, time and model. */
  private latest: JsonObject | null = null;
  /** The newest usage in the upstream's words, and the frame it came in when that holds nothing else. */
  private toldUsage: JsonObject | null = null;
  private usageFrame: Buffer | null = null;

  constructor(
    private readonly dialect: OpenAiDialect,
    private readonly channel: UpstreamChannel,
    private readonly confidential: Confidential,
    private readonly caller: CallerRequest,
    private readonly info: CallInfo,
  ) {
    const { generated } = this;
    this.reading = {
      mode: caller.mode,
      info,
      streamed: true,
      get toolCalls() {
        return generated.toolCalls;
      },
      get finished() {
        return generated.finishReason !== null;
      },
    };
    this.thinking = channel.thinkingToContent && caller.mode === 'chat' ? new ThinkingStream() : null;
  }

  get unfinished(): number {
    return this.decoder.unfinished;
  }

  push(chunk: Buffer): StreamStep {
    return this.step(() => this.decoder.push(chunk));
  }

  end(): StreamStep {
    return this.step(() => this.decoder.end());
  }

  closing(usage: Usage): Buffer {
    const unclosed = this.thinking?.close() ?? [];
    if (unclosed.length > 0) this.write({ ...this.head(), choices: unclosed });
    if (this.caller.wantsUsage) {
      if (usage === this.usage && this.usageFrame) this.outgoing.frame(this.usageFrame);
      else this.write({ ...this.head(), choices: [], usage: this.usageToTell(usage) });
    }
    this.outgoing.frame(done);
    return this.outgoing.take() ?? done;
  }

  frame(bytes: Buffer, start: number, end: number, plain: boolean): void {
    if (this.finished || this.error) return;
    if (end - start === done.length && done.equals(bytes.subarray(start, end))) {
      this.finished = true;
      return;
    }
    if (!isWellShaped(bytes, start, end)) return;
    const text = bytes.toString('utf8', start, end);
    let chunk: unknown;
    try {
      chunk = JSON.parse(text);
    } catch {
      if (text.trim() === '[DONE]') this.finished = true;
      return;
    }
    if (!isObject(chunk)) return;
    this.frames++;
    const error = failureIn(this.dialect, chunk, this.confidential);
    if (error) {
      this.error = error;
      return;
    }
    this.chunk(chunk, bytes, start, end, plain);
  }

  /** Reads one chunk, changes what must be changed, and sends it on, holds it back or drops it. */
  private chunk(told: JsonObject, bytes: Buffer, start: number, end: number, plain: boolean): void {
    const { dialect } = this;
    const chunk = dialect.translate ? dialect.translate(told, this.reading) : told;
    if (chunk === null) return;
    let changed = chunk !== told;
    const memorable = end - start <= longestRemembered;
    if (chunk.id && memorable) this.latest = chunk;

    const { choices } = chunk;
    const listed = Array.isArray(choices) ? choices : [];
    for (const choice of listed) {
      if (!isObject(choice)) continue;
      const message = messageIn(choice);
      if (mendChoice(dialect, choice, message, this.reading)) changed = true;
      this.generated.note(choice, message);
      if (this.thinking) {
        const before = this.thinking.rewrite(choice, message);
        if (before) this.write({ ...this.head(), choices: [before] });
        changed = true;
      }
    }
    if (this.takeUsage(chunk, listed, memorable)) {
      if (listed.length === 0) {
        if (chunk === told && memorable && this.toldUsage === told.usage) this.keepUsageFrame(chunk, bytes, start, end);
        return;
      }
      changed = true;
    }
    if (this.channel.forceFormat && this.caller.mode === 'chat') this.write(strictlyFormatted(chunk));
    else if (changed) this.write(chunk);
    else if (plain) this.outgoing.pass(bytes, start - 6, end + 2);
    else if (bytes.indexOf(10, start) === -1) this.outgoing.frame(bytes.subarray(start, end));
    else this.write(chunk);
  }

  /** Moves usage from the chunk into this stream; true when there was some. */
  private takeUsage(chunk: JsonObject, choices: readonly unknown[], memorable: boolean): boolean {
    const [first] = choices;
    const holder = isObject(chunk.usage) ? chunk : first;
    if (!isObject(holder) || !isObject(holder.usage)) return false;
    const usage = readUsage(holder.usage, this.dialect.reasoningBeside ?? false);
    if (usage) {
      this.usage = usage;
      this.toldUsage = memorable ? mendedUsage(holder.usage, usage) : null;
      this.usageFrame = null;
    }
    if (choices.length > 0) {
      delete holder.usage;
      for (const name of usageCopies) if (isObject(chunk[name])) delete chunk[name].usage;
    }
    return true;
  }

  /** A frame with usage and nothing else is sent last, as it came. */
  private keepUsageFrame(chunk: JsonObject, bytes: Buffer, start: number, end: number): void {
    if (this.channel.forceFormat) return;
    const frame = bytes.subarray(start, end);
    this.usageFrame = Buffer.from(frame.includes('\n') ? JSON.stringify(chunk) : frame);
  }

  private usageToTell(settled: Usage): JsonObject {
    return settled === this.usage && this.toldUsage ? this.toldUsage : writtenUsage(settled);
  }

  /** The members all chunks of one answer share. */
  private head(): JsonObject {
    const { id, created, model, system_fingerprint = null } = this.latest ?? {};
    return {
      id: id || this.info.callId,
      object: this.caller.mode === 'chat' ? 'chat.completion.chunk' : 'text_completion',
      created: created || this.info.createdAt,
      model: model || this.info.model,
      system_fingerprint,
    };
  }

  private write(chunk: JsonObject): void {
    this.outgoing.frame(Buffer.from(JSON.stringify(chunk)));
  }

  private step(read: () => void): StreamStep {
    const before = this.frames;
    try {
      read();
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw error;
      this.error = unreadableAnswer('the upstream sent a line without end');
    }
    return {
      bytes: this.outgoing.take(),
      error: this.error,
      finished: this.finished,
      frames: this.frames - before,
    };
  }
}
