import type { Usage } from '../../../domain/call/usage.js';
import type { StreamInput } from '../../contracts/protocol.js';
import { reportedTier } from '../../contracts/service-tier.js';
import { isObject, type JsonObject, parseJson, scalarText, textIn } from '../../json/json.js';
import { isWellShaped } from '../../json/upstream-json.js';
import type { Confidential } from '../../upstream/confidential.js';
import type { Frame } from '../../upstream/sse.js';
import type { UpstreamError } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import type { FramePattern } from '../frame-pattern.js';
import { saysSomething } from '../says-something.js';
import { maxStrayPatterns, SseStream } from '../sse-stream.js';
import { eventPattern } from './event-pattern.js';
import { openAiFailureIn, openAiFailureOf } from './failure.js';
import { ResponseWords, responseFinish } from './response-words.js';
import { correctedResponsesUsage, readResponsesUsage } from './responses-usage.js';
import { unreportedOfStream } from './unreported-usage.js';
import type { Unreported } from './usage.js';
import type { OpenAiVariant } from './variant.js';

/** The last event of a response, by its type: what its status then is, where it does not say. */
export const lastEvents: ReadonlyMap<string, string> = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.cancelled', 'cancelled'],
]);

const failedEvent = 'response.failed';
const delta = /^response\..+\.delta$/;
const summary = /reasoning_summary/;
/** What is no text: sound, and what a tool has put out. */
const noWords = /\.audio\.delta$|output_content/;
/** Items whose words come as they are made: all others are worked at unseen. */
const shown: ReadonlySet<string> = new Set(['message', 'function_call', 'custom_tool_call', 'apply_patch_call']);
/** Items that say nothing by their beginning. */
const silent: ReadonlySet<string> = new Set(['message', 'reasoning']);

/** A stream of the Responses interface, passed on event by event as it comes; the last one waits for the settlement. */
export class ResponsesStream extends SseStream {
  readonly generated: ResponseWords;
  worksUnseen = false;
  failed = false;
  private readonly inBackground: boolean;
  private readonly confidential: Confidential;
  private readonly unreported: Unreported;
  /** Reported by an event; the next one may report its usage. */
  failure: UpstreamError | null = null;
  /** Of the event before, if it said more of an item and was passed on as it came. */
  private pattern: FramePattern | null = null;
  private patternOf: JsonObject = {};
  private strayPatterns = 0;

  constructor(
    private readonly variant: OpenAiVariant,
    { provider, channel, caller, info }: StreamInput,
  ) {
    super(channel, caller, info);
    this.generated = new ResponseWords(caller.mode === 'responses' && caller.body.store !== false);
    this.inBackground = caller.inBackground === true;
    this.confidential = confidentialOf(provider, channel);
    const { body, dialect } = caller;
    this.unreported = unreportedOfStream({ mode: 'responses', body, dialect }, channel, info.model);
  }

  frame(bytes: Buffer, start: number, end: number, from: number): void {
    if (this.finished || this.error !== null) return;
    this.pattern = null;
    const event = isWellShaped(bytes, start, end) ? parseJson(bytes.toString('utf8', start, end)) : null;
    if (!isObject(event)) return;
    this.begun = true;
    const type = textIn(event.type) ?? '';
    if (type === failedEvent) this.failed = true;
    if (type === failedEvent) this.fail(event);
    else if (this.failure !== null) this.error = this.failure;
    else if (type === 'error') this.failure = openAiFailureOf(event, this.confidential);
    else {
      this.failure = openAiFailureIn(this.variant, event, this.confidential);
      if (this.failure === null) this.event(type, event, { bytes, start, end, from });
    }
  }

  /** Those that say only more. */
  known(bytes: Buffer, at: number): number {
    const like = this.pattern?.framesIn(bytes, at) ?? null;
    if (like === null || !this.writer.forwardLike(bytes, at, like.end)) return at;
    this.strayPatterns = 0;
    if (like.words === '') return like.end;
    const { type, output_index, item_id } = this.patternOf;
    this.piece(scalarText(type), { delta: like.words, output_index, item_id });
    return like.end;
  }

  protected override closed(): void {
    if (!this.finished) this.error ??= this.failure;
  }

  /** Says to the caller what an event says. */
  protected deliver(type: string, event: JsonObject, frame: Frame): void {
    this.writer.forward(event, frame);
    if (frame.from < 0 || typeof event.delta !== 'string' || this.strayPatterns >= maxStrayPatterns) return;
    if (!delta.test(type)) return;
    this.pattern = eventPattern(event, frame);
    this.patternOf = { type, output_index: event.output_index ?? null, item_id: event.item_id ?? null };
    this.strayPatterns++;
  }

  /** The same of the last event, which holds the whole response. */
  protected deliverEnd(event: JsonObject, _response: JsonObject, frame: Frame): void {
    this.writer.forward(event, frame);
  }

  /** `reported`: by upstream, in its own words. */
  protected reportUsage(usage: Usage, reported: JsonObject): void {
    this.writer.usage(usage, correctedResponsesUsage(reported, usage), null, null);
  }

  private event(type: string, event: JsonObject, frame: Frame): void {
    const status = lastEvents.get(type);
    const { response } = event;
    if (status === undefined && isObject(response)) this.named(response);
    if (status !== undefined && isObject(response)) {
      this.conclude({ status, ...response });
      this.deliverEnd(event, response, frame);
      return;
    }
    if (delta.test(type)) this.piece(type, event);
    else if (isObject(event.item)) this.item(type, event.item, event);
    this.deliver(type, event, frame);
  }

  /** In the background its id is an answer: with it the rest is asked for. An upstream that takes it so says so. */
  private named(response: JsonObject): void {
    this.generated.named(response);
    if (!this.inBackground || response.background !== true) return;
    this.generated.runsOn = true;
    this.progress++;
  }

  private piece(type: string, event: JsonObject): void {
    const { delta: words } = event;
    if (saysSomething(words)) this.progress++;
    if (typeof words === 'string' && !noWords.test(type)) this.generated.piece(words, event, summary.test(type));
  }

  private item(type: string, item: JsonObject, event: JsonObject): void {
    const kind = textIn(item.type) ?? '';
    if (type === 'response.output_item.added') {
      this.worksUnseen = !shown.has(kind);
      if (!silent.has(kind)) this.progress++;
    }
    if (type !== 'response.output_item.done') return;
    this.worksUnseen = false;
    this.progress++;
    this.generated.item(event);
  }

  /** Whatever it holds, a response that has ended is an answer. */
  private conclude(response: JsonObject): void {
    const { generated } = this;
    generated.response(response);
    generated.serviceTier = reportedTier(response.service_tier);
    generated.finishReason = responseFinish(response) ?? 'stop';
    this.progress++;
    this.finished = true;
    const usage = this.usageOf(response);
    if (!isObject(response.usage)) return;
    generated.upstreamCost = this.variant.cost?.(response.usage) ?? undefined;
    if (usage === null) return;
    this.take(usage);
    this.reportUsage(usage, response.usage);
  }

  /** Some say only why. */
  private fail(event: JsonObject): void {
    const reported = isObject(event.response) ? event.response : event;
    this.generated.response(reported);
    this.generated.serviceTier = reportedTier(reported.service_tier);
    const usage = this.usageOf(reported);
    if (usage !== null) this.take(usage);
    this.error = this.failure ?? openAiFailureOf(reported, this.confidential);
  }

  private usageOf({ usage }: JsonObject) {
    const reported = isObject(usage) ? readResponsesUsage(usage, this.unreported) : null;
    return reported === null ? null : { ...reported, ...this.generated.searches };
  }
}
