import type { Usage } from '../../../domain/call/usage.js';
import { type AnswerWriter, maxRemembered } from '../../contracts/answer-writer.js';
import type { CallerRequest, CallInfo } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { inOneLine, rewrittenBytes } from '../../protocols/carried.js';
import { correctedGeminiUsage, isConsistentGeminiUsage, usageMetadata } from '../../protocols/gemini/usage.js';
import { messageIn } from '../../protocols/openai/reply.js';
import type { Frame } from '../../upstream/sse.js';
import type { Frames } from './frames.js';
import { callPart, contentOf, finishReasonOf, groundingOf, wordParts } from './response.js';

/** Characters of arguments that are waited for, of all calls of an answer together. */
const maxAwaited = 4 * 1024 * 1024;

const maxCalls = 1024;

/** A call whose arguments come in pieces: it is written when its answer has finished, and the last of them is there. */
interface Awaited {
  readonly call: JsonObject;
  readonly name: string;
  readonly pieces: string[];
}

interface Held {
  readonly data: Buffer;
  readonly response: JsonObject;
  /** All usage that was reported by then. */
  readonly reported: Usage | null;
}

const hasFinish = ({ candidates, promptFeedback }: JsonObject): boolean =>
  isObject(promptFeedback) || objectsIn(candidates).some(({ finishReason }) => textIn(finishReason) !== null);

/**
 * A stream for Gemini's clients, who know that it is complete by the finish reason: what bears one, and whatever comes
 * after it, is held back by a frame, for the last of them leaves with the settlement.
 */
export class GeminiWriter implements AnswerWriter {
  private head: JsonObject | null = null;
  private reported: Usage | null = null;
  /** The newest frame that came in this wire, once there was a finish reason. */
  private held: Held | null = null;
  private finishing = false;
  /** Candidates that have finished, where the chunks came by another wire. */
  private readonly finished: JsonObject[] = [];
  private readonly awaited = new Map<JsonValue, Map<JsonValue, Awaited>>();
  private awaitedLength = 0;
  /** Answers of which a call could not be written. */
  private readonly malformed = new Set<JsonValue>();

  constructor(
    private readonly frames: Frames,
    private readonly promptTokens: number,
    private readonly believed: CallerRequest['believed'],
    private readonly info: CallInfo,
  ) {}

  write(chunk: JsonObject, length: number): void {
    if (length <= maxRemembered && textIn(chunk.id) !== null) this.head = this.headOf(chunk);
    for (const choice of objectsIn(chunk.choices)) this.choice(choice);
  }

  forward(response: JsonObject, { bytes, start, end, from }: Frame): void {
    this.release();
    this.finishing ||= hasFinish(response);
    const spread = from < 0 && bytes.subarray(start, end).includes(10);
    const data = spread ? Buffer.from(inOneLine(bytes.subarray(start, end))) : bytes.subarray(start, end);
    const mended = this.finishing ? null : this.mended(response, this.reported);
    if (this.finishing) this.held = { data: Buffer.from(data), response, reported: this.reported };
    else if (mended !== null) this.send(mended, data);
    else if (from < 0) this.frames.frame(data);
    else this.frames.pass(bytes, from, start, end);
  }

  forwardLike(): false {
    return false;
  }

  usage(usage: Usage): void {
    this.reported = usage;
  }

  take(): Buffer | null {
    return this.frames.take();
  }

  closing(usage: Usage): Buffer {
    const { held } = this;
    if (held !== null) {
      const { usageMetadata: words } = held.response;
      const isAsReported = usage === this.reported && (!isObject(words) || isConsistentGeminiUsage(words));
      if (isAsReported) this.frames.frame(held.data);
      else this.send({ ...held.response, usageMetadata: correctedGeminiUsage(words, usage) }, held.data);
    } else {
      const candidates = this.finished.length > 0 ? this.finished : this.withDefaultEnd();
      this.send({ candidates, usageMetadata: usageMetadata(usage), ...this.shared() });
    }
    return this.frames.close();
  }

  /** The end mark came without a reason: a complete answer has one for these clients, who ask again without. */
  private withDefaultEnd(): JsonObject[] {
    const indices = this.awaited.size > 0 ? [...this.awaited.keys()] : [0];
    return indices.map((index) => {
      const parts = this.complete(index);
      const finishReason = this.malformed.has(index)
        ? 'MALFORMED_FUNCTION_CALL'
        : finishReasonOf({ finish_reason: 'stop' });
      return { content: contentOf(parts), finishReason, index };
    });
  }

  private release(): void {
    const { held } = this;
    this.held = null;
    if (held === null) return;
    const mended = this.mended(held.response, held.reported);
    if (mended === null) this.frames.frame(held.data);
    else this.send(mended, held.data);
  }

  /** A response that is not the last one, where it reports what cannot be charged; null: it may go out as it came. */
  private mended(response: JsonObject, reported: Usage | null): JsonObject | null {
    const { usageMetadata: words } = response;
    if (!isObject(words)) return null;
    const believed = reported === null ? null : this.believed(reported);
    if (believed === reported && isConsistentGeminiUsage(words)) return null;
    return { ...response, usageMetadata: correctedGeminiUsage(words, believed ?? { input: this.promptTokens }) };
  }

  private choice(choice: JsonObject): void {
    const { index = 0 } = choice;
    const message = messageIn(choice) ?? {};
    const finish = textIn(choice.finish_reason);
    const parts = wordParts(message);
    for (const call of objectsIn(message.tool_calls)) this.called(index, call);
    if (finish !== null) parts.push(...this.complete(index));
    const grounding = groundingOf(message);
    const rest = grounding === null ? null : { groundingMetadata: grounding };
    if (parts.length > 0 || rest !== null)
      this.send({ candidates: [{ content: contentOf(parts), index, ...rest }], ...this.shared() });
    if (finish === null) return;
    const finishReason = this.malformed.has(index) ? 'MALFORMED_FUNCTION_CALL' : finishReasonOf(choice);
    this.finished.push({ content: contentOf([]), finishReason, index });
  }

  private called(choice: JsonValue, call: JsonObject): void {
    const { name, arguments: given } = isObject(call.function) ? call.function : {};
    const piece = textIn(given) ?? '';
    this.awaitedLength += piece.length;
    const calls = this.awaited.get(choice) ?? new Map<JsonValue, Awaited>();
    this.awaited.set(choice, calls);
    const key = call.index ?? 0;
    const known = calls.get(key);
    if (this.awaitedLength > maxAwaited || (known === undefined && calls.size === maxCalls)) this.malformed.add(choice);
    else if (known !== undefined) known.pieces.push(piece);
    else calls.set(key, { call, name: textIn(name) ?? '', pieces: [piece] });
  }

  /** The calls of an answer that has finished. */
  private complete(choice: JsonValue): JsonObject[] {
    const parts: JsonObject[] = [];
    for (const { call, name, pieces } of this.awaited.get(choice)?.values() ?? []) {
      const part = callPart({ ...call, function: { name, arguments: pieces.join('') } });
      if (part === null) this.malformed.add(choice);
      else parts.push(part);
    }
    this.awaited.delete(choice);
    return parts;
  }

  private headOf({ id, model }: JsonObject): JsonObject {
    return { modelVersion: textIn(model) ?? this.info.model, responseId: textIn(id) ?? this.info.callId };
  }

  /** The members that all responses of a stream share. */
  private shared(): JsonObject {
    return this.head ?? this.headOf({});
  }

  /** `data`: of the response before it was changed, in this wire. */
  private send(response: JsonObject, data?: Buffer): void {
    this.frames.frame(Buffer.from(data === undefined ? jsonText(response) : rewrittenBytes(data, response)));
  }
}
