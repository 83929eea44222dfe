import type { Generated, StreamInput } from '../../contracts/protocol.js';
import { exactly } from '../../json/exact-json.js';
import { isObject, type JsonObject, parseJson, textIn } from '../../json/json.js';
import { isWellShaped } from '../../json/upstream-json.js';
import type { Confidential } from '../../upstream/confidential.js';
import type { Frame } from '../../upstream/sse.js';
import { failedStop } from '../failed-finish.js';
import { saysSomething } from '../says-something.js';
import { maxStrayPatterns, SseStream } from '../sse-stream.js';
import { DeltaPattern, wordsOfDelta } from './delta-pattern.js';
import { AnthropicEvents } from './events.js';
import { anthropicFailureIn } from './failure.js';
import { hoursAskedBy, keepsThread, keptIn, newerUsage, readAnthropicUsage, reportedAnthropicTier } from './usage.js';

/** The input of a call stands in more brackets of an event. */
const outsideInput = 2;

/**
 * A stream of Anthropic's: passed on frame by frame to who speaks it, converted to neutral chunks for everybody else.
 */
export class AnthropicStream extends SseStream {
  private readonly events: AnthropicEvents;
  private readonly forwards: boolean;
  /** Of service, as asked for. */
  private readonly tiers: readonly string[];
  /** Looked for at once: a stream outlives its request, and must not refer to the caller's body. */
  private readonly asksForHours: boolean;
  private readonly isCompared: boolean;
  private readonly keepsThread: boolean;
  /** Usage as reported so far. */
  private reported: JsonObject | null = null;
  /** Of the delta before, if it was passed on as it came. */
  private pattern: DeltaPattern | null = null;
  private strayPatterns = 0;

  constructor(
    private readonly confidential: Confidential,
    { channel, caller, info }: Omit<StreamInput, 'provider'>,
  ) {
    super(channel, caller, info);
    this.events = new AnthropicEvents(info);
    this.forwards = caller.dialect.wire === 'anthropic';
    this.tiers = caller.tiers ?? [];
    this.asksForHours = hoursAskedBy(caller, channel)();
    this.isCompared = isObject(caller.body.diagnostics);
    this.keepsThread = keepsThread(caller);
  }

  get generated(): Generated {
    return this.events.generated;
  }

  /** Thinking may not be shown, and tools of Anthropic's own take long. */
  get worksUnseen(): boolean {
    return this.events.unseen;
  }

  frame(bytes: Buffer, start: number, end: number, from: number): void {
    if (this.finished || this.error !== null) return;
    if (!isWellShaped(bytes, start, end)) return;
    const text = bytes.toString('utf8', start, end);
    const parsed = parseJson(text);
    // What a call begins with may be all of its input.
    const event = this.forwards || !text.includes('"tool_use"') ? parsed : exactly(text, parsed, outsideInput);
    if (!isObject(event)) return;
    this.begun = true;
    this.error = anthropicFailureIn(event, this.confidential);
    if (this.error === null) this.event(event, { bytes, start, end, from });
  }

  /** Those that say only more. */
  known(bytes: Buffer, at: number): number {
    if (this.finished || this.error !== null) return at;
    const like = this.pattern?.framesIn(bytes, at) ?? null;
    if (like === null || !this.writer.forwardLike(bytes, at, like.end)) return at;
    this.events.said(like.words);
    if (like.words !== '') this.progress++;
    this.strayPatterns = 0;
    return like.end;
  }

  private event(event: JsonObject, frame: Frame): void {
    const { start, end, from } = frame;
    const reported = usageIn(event);
    if (reported !== null) this.takeUsage(event, reported);
    const { delta } = event;
    this.error =
      event.type === 'message_delta' && isObject(delta) ? failedStop(delta.stop_reason, this.confidential) : null;
    if (this.error !== null) return;
    this.takeIds(event);
    const chunk = this.events.read(event);
    if (eventSays(event)) this.progress++;
    this.finished = event.type === 'message_stop';
    if (!this.forwards) {
      if (chunk !== null) this.writer.write(chunk, end - start);
      return;
    }
    this.writer.forward(event, frame);
    if (event.type === 'content_block_delta' && from >= 0) this.learn(event, frame);
  }

  /** Told at the beginning where it was there before, and at the end where it was made. */
  private takeIds({ type, message, delta }: JsonObject): void {
    const holder = type === 'message_start' ? message : type === 'message_delta' ? delta : null;
    const { generated } = this.events;
    for (const one of isObject(holder) ? keptIn(holder, this.keepsThread) : [])
      if (!generated.kept.some(({ id }) => id === one.id)) generated.kept = [...generated.kept, one];
    if (this.isCompared && type === 'message_start' && isObject(message))
      this.events.generated.comparedId = textIn(message.id) ?? undefined;
  }

  private learn({ delta }: JsonObject, frame: Frame): void {
    const member = isObject(delta) ? wordsOfDelta[textIn(delta.type) ?? ''] : undefined;
    if (member === undefined || this.strayPatterns >= maxStrayPatterns) return;
    const pattern = DeltaPattern.of(frame, member);
    if (pattern === null) return;
    this.pattern = pattern;
    this.strayPatterns++;
  }

  /** What a stream begins with says little of what will be put out: till its end nobody but us has counted that. */
  private takeUsage({ type }: JsonObject, reported: JsonObject): void {
    const begins = type === 'message_start';
    this.reported = newerUsage(this.reported, begins ? { ...reported, output_tokens: 0 } : reported);
    this.events.generated.inputOnly = begins;
    this.events.generated.serviceTier = reportedAnthropicTier(this.reported, this.tiers);
    const usage = readAnthropicUsage(this.reported, this.events.ranCode, () => this.asksForHours);
    if (usage === null) return;
    this.take(usage);
    this.writer.usage(usage, this.forwards ? this.reported : null, null, null);
  }
}

/** A message that begins is no answer yet, nor is a block of words without any. */
function eventSays({ type, content_block: block, delta }: JsonObject): boolean {
  switch (type) {
    case 'content_block_start':
      return isObject(block) && (block.type !== 'text' || textIn(block.text) !== null);
    case 'content_block_delta':
      return saysSomething(delta);
    case 'message_delta':
      return isObject(delta) && textIn(delta.stop_reason) !== null;
    default:
      return false;
  }
}

/** Where an event holds usage, if it is of those that can. */
function usageIn({ type, message, usage }: JsonObject): JsonObject | null {
  if (type === 'message_delta') return isObject(usage) ? usage : null;
  return type === 'message_start' && isObject(message) && isObject(message.usage) ? message.usage : null;
}
