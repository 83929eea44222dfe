import { noUsage } from '../../../domain/call/usage.js';
import type { StreamInput } from '../../contracts/protocol.js';
import { exactly } from '../../json/exact-json.js';
import { isObject, type JsonObject, parseJson } from '../../json/json.js';
import { isWellShaped } from '../../json/upstream-json.js';
import type { Confidential } from '../../upstream/confidential.js';
import { unreadableAnswer } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { failedCandidate } from '../failed-finish.js';
import { SseStream } from '../sse-stream.js';
import { GeminiReader, outsideCalls } from './answer.js';
import { geminiFailureIn, responseSays } from './failure.js';
import { isNative } from './native.js';
import { asksMapsAlone } from './own-tools.js';
import { geminiUsage } from './usage.js';

/**
 * A stream of `GenerateContentResponse`s, each with what is new in it. There is no end mark: it ends when all candidates
 * have finished and the connection closes.
 */
export class GeminiStream extends SseStream {
  readonly generated: GeminiReader;
  /** The caller speaks this wire: frames need not be written anew. */
  private readonly forwards: boolean;
  private metadata: JsonObject | undefined;
  private searches = noUsage;

  private readonly confidential: Confidential;

  constructor({ provider, channel, caller, info }: StreamInput) {
    super(channel, caller, info);
    this.confidential = confidentialOf(provider, channel);
    this.generated = new GeminiReader(info, asksMapsAlone(caller, channel));
    this.forwards = isNative(caller);
  }

  frame(bytes: Buffer, start: number, end: number, from: number): void {
    if (this.error !== null || !isWellShaped(bytes, start, end)) return;
    const text = bytes.toString('utf8', start, end);
    const parsed = parseJson(text);
    const response = this.forwards || !text.includes('functionCall') ? parsed : exactly(text, parsed, outsideCalls);
    if (!isObject(response)) return;
    this.begun = true;
    this.error = geminiFailureIn(response, this.confidential, this.forwards);
    if (this.error !== null) return;
    const choices = this.read(response);
    this.error ??= failedCandidate(response.candidates, this.confidential);
    if (this.error !== null) return;
    if (responseSays(response)) this.progress++;
    if (this.forwards) this.writer.forward(response, { bytes, start, end, from });
    else for (const choice of choices) this.writer.write(choice, end - start);
  }

  /** The chunks that a response amounts to. */
  private read(response: JsonObject): JsonObject[] {
    const { generated, writer } = this;
    const choices = generated.choices(response, false);
    if (generated.endless) this.error = unreadableAnswer('the upstream sent a call of a function that makes no sense');
    // The newest that was reported, though searches may be distinguished from it.
    if (isObject(response.usageMetadata)) this.metadata = response.usageMetadata;
    const usage =
      generated.searches === this.searches && this.metadata !== response.usageMetadata
        ? null
        : geminiUsage(this.metadata, generated.searches);
    this.searches = generated.searches;
    if (usage !== null) {
      this.take(usage);
      writer.usage(usage, null, null, null);
    }
    const head = generated.head(response, 'chat.completion.chunk');
    return choices.map((choice) => ({ ...head, choices: [choice] }));
  }

  protected override closed(): void {
    this.finished = this.error === null && this.generated.finishReason !== null;
  }
}
