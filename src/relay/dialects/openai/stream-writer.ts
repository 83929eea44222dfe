import type { Usage } from '../../../domain/call/usage.js';
import { type AnswerWriter, maxRemembered } from '../../contracts/answer-writer.js';
import type { CallerRequest, CallInfo, UpstreamChannel } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import { isObject, type JsonObject } from '../../json/json.js';
import { inOneLine, rewrittenJson } from '../../protocols/carried.js';
import { messageIn } from '../../protocols/openai/reply.js';
import { writeOpenAiUsage } from '../../protocols/openai/usage.js';
import { type Frame, Outgoing } from '../../upstream/sse.js';
import { strictlyFormatted } from './strict-format.js';
import { ThinkingStream } from './thinking-stream.js';
import { UnendedChoices } from './unended-choices.js';

const done = Buffer.from('[DONE]');

/**
 * A stream for OpenAI's clients. A chunk goes out as it came, at once, unless something in it was or must be changed.
 * Usage goes last, in a chunk of its own, and only to a caller who asked for it, wherever upstream put it.
 */
export class OpenAiWriter implements AnswerWriter {
  private readonly outgoing = new Outgoing();
  private readonly thinking: ThinkingStream | null;
  private readonly strict: boolean;
  /** No chunk goes out as it came. */
  private readonly rewrites: boolean;
  /** The newest chunk: what this side writes must bear the same id, time and model. */
  private latest: JsonObject | null = null;
  private readonly unended = new UnendedChoices();
  /** The newest usage, in upstream's words where they are known, and the frame it came in when that holds nothing else. */
  private reported: Usage | null = null;
  private words: JsonObject | null = null;
  private usageFrame: Buffer | null = null;
  private readonly chat: boolean;
  private readonly wantsUsage: boolean;

  constructor(
    { mode, wantsUsage }: CallerRequest,
    channel: UpstreamChannel,
    private readonly info: CallInfo,
  ) {
    const chat = mode === 'chat';
    this.chat = chat;
    this.wantsUsage = wantsUsage;
    this.thinking = channel.thinkingToContent && chat ? new ThinkingStream() : null;
    this.strict = channel.forceFormat && chat;
    this.rewrites = this.strict || this.thinking !== null;
  }

  write(chunk: JsonObject, length: number, text?: string): void {
    this.remember(chunk, length);
    this.unended.note(chunk);
    if (this.thinking !== null) this.rewriteThinking(this.thinking, chunk);
    this.send(this.strict ? strictlyFormatted(chunk) : chunk, text);
  }

  forward(chunk: JsonObject, { bytes, start, end, from }: Frame): void {
    if (this.rewrites) {
      this.write(chunk, end - start, inOneLine(bytes.subarray(start, end)));
      return;
    }
    this.remember(chunk, end - start);
    this.unended.note(chunk);
    // The data line alone: an event's name means nothing to these clients.
    if (from >= 0) this.outgoing.pass(bytes, start - 6, end + 2);
    else if (bytes.indexOf(10, start) === -1) this.outgoing.frame(bytes.subarray(start, end));
    else this.outgoing.frame(Buffer.from(inOneLine(bytes.subarray(start, end))));
  }

  forwardLike(bytes: Buffer, from: number, to: number): boolean {
    if (this.rewrites) return false;
    this.outgoing.pass(bytes, from, to);
    return true;
  }

  usage(usage: Usage, words: JsonObject | null, chunk: JsonObject | null, frame: Buffer | null): void {
    if (chunk !== null && words !== null) this.remember(chunk, 0);
    this.reported = usage;
    this.words = words;
    const asItCame = frame !== null && this.wantsUsage && !this.strict;
    this.usageFrame = asItCame ? Buffer.from(frame.includes(10) ? inOneLine(frame) : frame) : null;
  }

  take(): Buffer | null {
    return this.outgoing.take();
  }

  closing(usage: Usage): Buffer {
    const unclosed = this.thinking?.close() ?? [];
    if (unclosed.length > 0) this.send({ ...this.head(), choices: unclosed });
    const unended = this.unended.end(this.chat);
    if (unended.length > 0) this.send({ ...this.head(), choices: unended });
    if (this.wantsUsage) {
      const isAsReported = usage === this.reported;
      if (isAsReported && this.usageFrame !== null) this.outgoing.frame(this.usageFrame);
      else {
        const words = isAsReported && this.words !== null ? this.words : writeOpenAiUsage(usage);
        this.send({ ...this.head(), choices: [], usage: words });
      }
    }
    this.outgoing.frame(done);
    return this.outgoing.take() ?? done;
  }

  private remember(chunk: JsonObject, length: number): void {
    if (chunk.id && length <= maxRemembered) this.latest = chunk;
  }

  private rewriteThinking(thinking: ThinkingStream, { choices }: JsonObject): void {
    for (const choice of Array.isArray(choices) ? choices : []) {
      if (!isObject(choice)) continue;
      const before = thinking.rewrite(choice, messageIn(choice));
      if (before) this.send({ ...this.head(), choices: [before] });
    }
  }

  /** The members all chunks of one answer share. */
  private head(): JsonObject {
    const { id, created, model, system_fingerprint = null } = this.latest ?? {};
    return {
      id: id || this.info.callId,
      object: this.chat ? 'chat.completion.chunk' : 'text_completion',
      created: created || this.info.createdAt,
      model: model || this.info.model,
      system_fingerprint,
    };
  }

  /** `text`: the chunk before it was changed, in this wire's own words. */
  private send(chunk: JsonObject, text?: string): void {
    this.outgoing.frame(Buffer.from(text === undefined ? jsonText(chunk) : rewrittenJson(text, chunk)));
  }
}
