import type { StreamInput } from '../../contracts/protocol.js';
import { isObject, type JsonObject, parseJson, textIn } from '../../json/json.js';
import { isWellShaped } from '../../json/upstream-json.js';
import type { Confidential } from '../../upstream/confidential.js';
import type { Frame } from '../../upstream/sse.js';
import { unreadableAnswer } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { SseStream } from '../sse-stream.js';
import { openAiFailureIn, openAiFailureOf } from './failure.js';
import { Generation } from './reply.js';
import { transcriptUsage } from './transcript.js';
import { inOpenAiWords, textDelta, textDone, textSegment } from './transcript-events.js';
import type { OpenAiVariant } from './variant.js';

const done = '[DONE]';

/** Characters: what is said in two days. */
const maxText = 4 * 1024 * 1024;

/** The words of a recording while it is heard; the last event, with all of them, waits for the settlement. */
export class TranscriptStream extends SseStream {
  readonly generated = new Generation();
  private readonly confidential: Confidential;
  /** What has been said so far, for upstreams that end without all of it. */
  private text = '';
  /** Words have come as they were heard: segments repeat them. */
  private hasWords = false;

  constructor(
    private readonly variant: OpenAiVariant,
    { provider, channel, caller, info }: StreamInput,
  ) {
    super(channel, caller, info);
    this.confidential = confidentialOf(provider, channel);
  }

  override get unfinished(): number {
    return super.unfinished + this.text.length;
  }

  frame(bytes: Buffer, start: number, end: number, from: number): void {
    if (this.finished || this.error !== null) return;
    if (end - start <= done.length && bytes.toString('latin1', start, end).trim() === done) {
      this.ended();
      return;
    }
    const event = isWellShaped(bytes, start, end) ? parseJson(bytes.toString('utf8', start, end)) : null;
    if (!isObject(event)) return;
    this.begun = true;
    this.error =
      event.type === 'error'
        ? openAiFailureOf(event, this.confidential)
        : openAiFailureIn(this.variant, event, this.confidential);
    if (this.error === null) this.event(event, { bytes, start, end, from });
  }

  private event(upstreams: JsonObject, frame: Frame): void {
    const event = inOpenAiWords(upstreams);
    switch (event.type) {
      case textDelta:
        if (typeof event.delta !== 'string') return;
        this.hasWords ||= event.delta !== '';
        this.say(event.delta);
        break;
      case textSegment:
        if (!this.hasWords) this.say(textIn(event.text) ?? '');
        break;
      case textDone:
        if (typeof event.text !== 'string') return;
        this.usage = transcriptUsage(event);
        if (this.generated.said.length === 0) this.generated.said.add(event.text);
        this.generated.finishReason = 'stop';
        this.finished = true;
        break;
      default:
        return;
    }
    if (this.error !== null) return;
    this.progress++;
    if (event === upstreams) this.writer.forward(event, frame);
    else this.writer.write(event, frame.end - frame.start);
  }

  private say(words: string): void {
    this.generated.said.add(words);
    this.text += words;
    if (this.text.length > maxText) this.error = unreadableAnswer('the upstream sent more than a transcript has');
  }

  /** It has said so, without an event of its own. */
  private ended(): void {
    this.finished = true;
    if (this.progress === 0) return;
    this.generated.finishReason = 'stop';
    this.writer.write({ type: textDone, text: this.text }, 0);
  }
}
