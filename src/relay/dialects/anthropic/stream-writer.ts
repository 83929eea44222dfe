import type { Usage } from '../../../domain/call/usage.js';
import type { AnswerWriter } from '../../contracts/answer-writer.js';
import type { CallerRequest, CallInfo } from '../../contracts/protocol.js';
import { isObject, type JsonObject, objectsIn, textIn } from '../../json/json.js';
import {
  correctedAnthropicUsage,
  endsWith,
  isConsistentAnthropicUsage,
  readAnthropicUsage,
  writeAnthropicUsage,
} from '../../protocols/anthropic/usage.js';
import { messageIn } from '../../protocols/openai/reply.js';
import { type Frame, Outgoing } from '../../upstream/sse.js';
import { eventText, isNamed, namedFrame } from '../named-events.js';
import { BlockWriter } from './block-writer.js';
import { stopReasonOf } from './stop-reason.js';

interface Held {
  readonly frame: Buffer;
  readonly event: JsonObject;
  /** All usage that was reported by then. */
  readonly reported: Usage | null;
}

const metrics = 'amazon-bedrock-invocationMetrics';
/** The last event before the end, and the end itself. */
const lastWords = 'message_delta';
const beginning = 'message_start';
const endMark = 'message_stop';

/**
 * A stream for Anthropic's clients. Events of an upstream that speaks as they do go out as they came; what others say is
 * sent in blocks. The event that reports the usage waits, with the end, until the call is settled.
 */
export class AnthropicWriter implements AnswerWriter {
  private readonly outgoing = new Outgoing();
  private readonly blocks: BlockWriter;
  /** Whether events were passed on. */
  private passing = false;
  private held: Held | null = null;
  private end: Buffer | null = null;
  private reported: Usage | null = null;
  private begun = false;
  /** A call of the caller's tools was passed on. */
  private called = false;
  /** The neutral choice that says why the answer ended. */
  private finish: JsonObject = {};

  constructor(
    private readonly promptTokens: number,
    private readonly believed: CallerRequest['believed'],
    private readonly info: CallInfo,
  ) {
    this.blocks = new BlockWriter(info.callId, (frame) => this.send(frame));
  }

  write(chunk: JsonObject): void {
    const choice = objectsIn(chunk.choices).find(({ index }) => (index ?? 0) === 0);
    this.begin(chunk);
    if (choice === undefined) return;
    const message = messageIn(choice);
    if (message !== null) this.blocks.delta(message);
    if (textIn(choice.finish_reason) !== null) this.finish = choice;
  }

  forward(event: JsonObject, frame: Frame): void {
    this.passing = true;
    const { bytes, end, from } = frame;
    const { type } = event;
    if (type === endMark) {
      // Amazon repeats the usage in it, in words of its own.
      this.end = metrics in event ? null : namedFrame(event, frame);
      return;
    }
    this.release();
    if (type === 'content_block_start' && isCall(event)) this.called = true;
    const mended = type === beginning ? this.mendedStart(event) : null;
    if (type === lastWords) this.held = { frame: namedFrame(event, frame), event, reported: this.reported };
    else if (mended !== null) this.send(mended);
    else if (isNamed(bytes, from)) this.outgoing.pass(bytes, from, end + 2);
    else this.outgoing.whole(namedFrame(event, frame));
  }

  forwardLike(bytes: Buffer, from: number, to: number): boolean {
    if (this.held !== null || !isNamed(bytes, from)) return false;
    this.outgoing.pass(bytes, from, to);
    return true;
  }

  usage(usage: Usage): void {
    this.reported = usage;
  }

  take(): Buffer | null {
    return this.outgoing.take();
  }

  closing(usage: Usage): Buffer {
    if (this.passing) this.closePassed(usage);
    else {
      this.begin({});
      this.blocks.close();
      const delta = stopReasonOf(this.finish, this.blocks.toolCalls > 0);
      this.send(eventText(lastWords, { delta, usage: writeAnthropicUsage(usage) }));
      this.send(eventText(endMark, {}));
    }
    return this.outgoing.take() ?? Buffer.alloc(0);
  }

  /** Upstream's last events, which say what is charged. */
  private closePassed(usage: Usage): void {
    const { held, end } = this;
    const words = held === null ? null : usageOf(held.event);
    const isAsReported =
      words !== null && usage === this.reported && isConsistentAnthropicUsage(words) && endsWith(words, usage);
    if (held !== null && isAsReported && hasReason(held.event)) this.passHeld(held);
    else {
      const { type: _, ...event } = held?.event ?? {};
      const ended = hasReason(event) ? event : { ...event, delta: this.withDefaultReason(event) };
      this.send(eventText(lastWords, { ...ended, usage: correctedAnthropicUsage(usageOf(event), usage) }));
    }
    if (end === null) this.send(eventText(endMark, {}));
    else this.outgoing.whole(end);
  }

  /** The end mark came without a reason: clients take an answer without one for half of it. */
  private withDefaultReason({ delta }: JsonObject): JsonObject {
    return { ...(isObject(delta) ? delta : {}), ...stopReasonOf({}, this.called) };
  }

  /** It was not the last one. */
  private release(): void {
    const { held } = this;
    this.held = null;
    if (held === null) return;
    const { event, reported } = held;
    const believed = reported === null ? null : this.believed(reported);
    if (believed === reported && isConsistentAnthropicUsage(usageOf(event))) this.passHeld(held);
    else {
      const { type: _, ...words } = event;
      const usage = correctedAnthropicUsage(usageOf(event), believed ?? { input: this.promptTokens });
      this.send(eventText(lastWords, { ...words, usage }));
    }
  }

  private passHeld({ frame }: Held): void {
    this.outgoing.whole(frame);
  }

  /** What a stream begins with, where it reports what cannot be charged; null: it may go out as it came. */
  private mendedStart({ type: _, message, ...rest }: JsonObject): string | null {
    if (!isObject(message) || !isObject(message.usage)) return null;
    const reported = readAnthropicUsage(message.usage);
    const believed = reported === null ? null : this.believed(reported);
    if (believed === reported && isConsistentAnthropicUsage(message.usage)) return null;
    const usage = correctedAnthropicUsage(message.usage, believed ?? { input: this.promptTokens });
    return eventText(beginning, { message: { ...message, usage }, ...rest });
  }

  private begin({ id, model }: JsonObject): void {
    if (this.begun) return;
    this.begun = true;
    const { info, promptTokens } = this;
    const message = {
      id: textIn(id) ?? info.callId,
      type: 'message',
      role: 'assistant',
      model: textIn(model) ?? info.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      // Nobody has reported it yet. The last event has what is charged.
      usage: writeAnthropicUsage({ input: promptTokens }),
    };
    this.send(eventText(beginning, { message }));
  }

  private send(frame: string): void {
    this.outgoing.whole(Buffer.from(frame));
  }
}

const isCall = ({ content_block: block }: JsonObject): boolean => isObject(block) && block.type === 'tool_use';

const hasReason = ({ delta }: JsonObject): boolean => isObject(delta) && textIn(delta.stop_reason) !== null;

const usageOf = ({ usage }: JsonObject): JsonObject => (isObject(usage) ? usage : {});
