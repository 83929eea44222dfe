import type { Usage } from '../../../domain/call/usage.js';
import type { Mode } from '../../../domain/channel/provider.js';
import { maxRemembered } from '../../contracts/answer-writer.js';
import type { CallInfo, StreamInput } from '../../contracts/protocol.js';
import { reportedTier } from '../../contracts/service-tier.js';
import { isObject, type JsonObject, type JsonValue, objectsIn } from '../../json/json.js';
import { isWellShaped } from '../../json/upstream-json.js';
import type { Confidential } from '../../upstream/confidential.js';
import type { Frame } from '../../upstream/sse.js';
import { reportedAnswerId } from '../answer-id.js';
import { inOneLine } from '../carried.js';
import { chunkPattern } from '../chunk-pattern.js';
import { confidentialOf } from '../confidential-of.js';
import { failedChoice } from '../failed-finish.js';
import type { FramePattern } from '../frame-pattern.js';
import { choiceSays } from '../says-something.js';
import { maxStrayPatterns, SseStream } from '../sse-stream.js';
import { CallNumbers } from './call-numbers.js';
import { openAiFailureIn } from './failure.js';
import { Generation, mendChoice, messageIn } from './reply.js';
import { unreportedOfStream } from './unreported-usage.js';
import { correctedOpenAiUsage, readOpenAiUsage, type Unreported } from './usage.js';
import { isOfOneAnswer, readsApart, withNextAnswer } from './usage-per-answer.js';
import type { OpenAiVariant, Reading } from './variant.js';

const done = Buffer.from('[DONE]');

/** Members in which some upstreams repeat the usage of a chunk, or have the only one. */
const usageCopies = ['x_groq'];

/** What of a chunk holds usage; null: nothing does. */
function usageHolder(chunk: JsonObject, firstChoice: JsonValue | undefined): JsonObject | null {
  if (isObject(chunk.usage)) return chunk;
  for (const name of usageCopies) {
    const holder = chunk[name];
    if (isObject(holder) && isObject(holder.usage)) return holder;
  }
  return isObject(firstChoice) && isObject(firstChoice.usage) ? firstChoice : null;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** Every choice is named and has no word, no call and no end. */
function sayNothing({ choices }: JsonObject): boolean {
  for (const choice of objectsIn(choices)) {
    const { index: _, delta, ...rest } = choice;
    const { role: __, ...words } = isObject(delta) ? delta : {};
    if (![...Object.values(rest), ...Object.values(words)].every(isEmpty)) return false;
  }
  return true;
}

/** How usage was said. */
interface SaidUsage {
  /** That says nothing else; null: it says more. */
  readonly chunk: JsonObject | null;
  /** To be passed on as it came; null: it is written anew. */
  readonly frame: Buffer | null;
  readonly memorable: boolean;
  readonly ofOneAnswer: boolean;
}

/** A class, as V8 keeps an object literal with accessors as a dictionary, for as long as the stream is open. */
class StreamedReading implements Reading {
  readonly streamed = true;

  constructor(
    readonly mode: Mode,
    readonly info: CallInfo,
    private readonly generated: Generation,
  ) {}

  get toolCalls(): number {
    return this.generated.toolCalls;
  }

  get finished(): boolean {
    return this.generated.finishReason !== null;
  }

  get said(): boolean {
    return this.generated.said.length > 0;
  }
}

/** A stream of the OpenAI family, read chunk by chunk and handed on to the caller's dialect. */
export class OpenAiStream extends SseStream {
  readonly generated: Generation;
  /** The caller speaks this wire: frames need not be written anew. */
  private readonly forwards: boolean;
  /** What chunks say is what is in them: the variant has no view of its own. */
  private readonly literal: boolean;
  private readonly translate: OpenAiVariant['translate'];
  /** Of the chunk before, if it was passed on as it came. */
  private pattern: FramePattern | null = null;
  private strayPatterns = 0;
  /** A chunk was handed on. */
  private handedOn = false;
  private readonly reading: Reading;
  private readonly unreported: Unreported;
  private readonly numbers = new CallNumbers();
  private readonly readsApart: boolean;
  /** Answers whose usage came apart. */
  private countedApart = 0;

  private readonly confidential: Confidential;

  constructor(
    private readonly variant: OpenAiVariant,
    { provider, channel, caller, info }: StreamInput,
  ) {
    super(channel, caller, info);
    this.confidential = confidentialOf(provider, channel);
    this.unreported = unreportedOfStream(caller, channel, info.model);
    this.generated = new Generation(this.unreported.calls);
    this.reading = new StreamedReading(caller.mode, info, this.generated);
    this.forwards = caller.dialect.wire === 'openai';
    this.readsApart = readsApart(caller);
    this.translate = variant.translator?.() ?? variant.translate;
    this.literal = this.forwards && !this.translate && !variant.mend && !variant.failure;
  }

  frame(bytes: Buffer, start: number, end: number, from: number): void {
    if (this.finished || this.error) return;
    this.pattern = null;
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
    this.begun = true;
    const error = openAiFailureIn(this.variant, chunk, this.confidential);
    if (error) {
      this.error = error;
      return;
    }
    this.chunk(chunk, { bytes, start, end, from });
  }

  /** Those that say only more. */
  known(bytes: Buffer, at: number): number {
    const like = this.pattern?.framesIn(bytes, at) ?? null;
    if (like === null || !this.writer.forwardLike(bytes, at, like.end)) return at;
    this.generated.said.add(like.words);
    if (like.words !== '') this.progress++;
    this.strayPatterns = 0;
    return like.end;
  }

  /** Reads one chunk, mends it, and hands it on without its usage. */
  private chunk(reported: JsonObject, frame: Frame): void {
    const { bytes, start, end, from } = frame;
    const { variant } = this;
    if (reported.service_tier !== undefined)
      this.generated.serviceTier = reportedTier(reported.service_tier) ?? this.generated.serviceTier;
    const chunk = this.translate ? this.translated(this.translate, reported) : reported;
    if (chunk === null) return;
    this.generated.answerId ??=
      reportedAnswerId(reported.id, this.reading.info) ?? reportedAnswerId(chunk.id, this.reading.info);
    let untouched = chunk === reported && this.forwards;
    const listed = Array.isArray(chunk.choices) ? chunk.choices : [];
    // Clients go through the list without looking whether it is one.
    if (listed !== chunk.choices) {
      chunk.choices = listed;
      untouched = false;
    }
    const failed = failedChoice(listed, this.confidential);
    for (const choice of failed === null ? listed : []) {
      if (!isObject(choice)) continue;
      const message = messageIn(choice);
      if (choiceSays(choice)) this.progress++;
      if (mendChoice(variant, choice, message, this.reading)) untouched = false;
      if (message?.tool_calls && this.numbers.number(choice.index, message.tool_calls)) untouched = false;
      this.generated.note(choice, message);
    }
    const [first] = listed;
    const holder = usageHolder(chunk, first);
    if (holder !== null && isObject(holder.usage)) {
      const alone = listed.length === 0 && holder === chunk;
      const asItCame = alone && untouched ? bytes.subarray(start, end) : null;
      const memorable = end - start <= maxRemembered;
      const said = { chunk: alone ? chunk : null, frame: asItCame, memorable, ofOneAnswer: isOfOneAnswer(chunk) };
      this.takeUsage(holder.usage, said);
      if (alone) return;
      for (const choice of listed) if (isObject(choice)) delete choice.usage;
      delete holder.usage;
      // What is left is the usage chunk of upstreams that put an empty choice into it.
      if (this.handedOn && failed === null && sayNothing(chunk)) return;
      for (const name of usageCopies) if (isObject(chunk[name])) delete chunk[name].usage;
      untouched = false;
    }
    if (failed !== null) {
      this.error = failed;
      return;
    }
    this.handedOn = true;
    const own = this.forwards && chunk === reported;
    if (!untouched) this.writer.write(chunk, end - start, own ? inOneLine(bytes.subarray(start, end)) : undefined);
    else {
      this.writer.forward(chunk, frame);
      if (from >= 0 && this.literal && this.strayPatterns < maxStrayPatterns) {
        this.pattern = chunkPattern(chunk, bytes, start, end);
        this.strayPatterns++;
      }
    }
  }

  private translated(translate: NonNullable<OpenAiVariant['translate']>, reported: JsonObject): JsonObject | null {
    if (this.variant.isLast?.(reported)) this.finished = true;
    const chunk = translate(reported, this.reading);
    if (chunk !== null && chunk !== reported) this.generated.keep('conversation', chunk.conversation_id);
    return chunk;
  }

  private takeUsage(reported: JsonObject, { chunk, frame, memorable, ofOneAnswer }: SaidUsage): void {
    const { generated } = this;
    generated.upstreamCost = this.variant.cost?.(reported) ?? generated.upstreamCost;
    const said = readOpenAiUsage(reported, this.variant.reasoningIsSeparate ?? false, this.unreported);
    if (said === null) return;
    const usage = ofOneAnswer ? this.withAnswerBefore(said) : said;
    this.take(usage);
    const words = memorable ? correctedOpenAiUsage(reported, usage) : null;
    this.writer.usage(usage, words, chunk, words === reported ? frame : null);
  }

  /** Never of more answers than there are: whoever counts all of them again and again is not added up. */
  private withAnswerBefore(said: Usage): Usage {
    this.countedApart++;
    const { usage: before } = this;
    const further = before !== null && this.countedApart <= this.generated.choices;
    return further ? withNextAnswer(before, said, this.readsApart) : said;
  }
}
