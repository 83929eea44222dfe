import type { Usage } from '../../../domain/call/usage.js';
import type { AnswerWriter } from '../../contracts/answer-writer.js';
import type { AnswerStream, StreamInput, StreamStep } from '../../contracts/protocol.js';
import { isObject, parseJson, textIn } from '../../json/json.js';
import { isWellShaped } from '../../json/upstream-json.js';
import type { Confidential } from '../../upstream/confidential.js';
import { writerFor } from '../caller-calls.js';
import { confidentialOf } from '../confidential-of.js';
import { SseStream } from '../sse-stream.js';
import { openAiFailureIn, openAiFailureOf } from './failure.js';
import { Generation } from './reply.js';
import type { OpenAiVariant } from './variant.js';

/* Sound in events, as `stream_format: "sse"` asks for it. What it costs is known before: nothing of it is looked at. */

const audioDelta = 'speech.audio.delta';
export const audioDone = 'speech.audio.done';

export class SpeechStream extends SseStream {
  readonly generated = new Generation();
  private readonly confidential: Confidential;

  constructor(
    private readonly variant: OpenAiVariant,
    { provider, channel, caller, info }: StreamInput,
  ) {
    super(channel, caller, info);
    this.confidential = confidentialOf(provider, channel);
  }

  frame(bytes: Buffer, start: number, end: number, from: number): void {
    if (this.finished || this.error !== null) return;
    const event = isWellShaped(bytes, start, end) ? parseJson(bytes.toString('utf8', start, end)) : null;
    if (!isObject(event)) return;
    this.begun = true;
    this.error =
      event.type === 'error'
        ? openAiFailureOf(event, this.confidential)
        : openAiFailureIn(this.variant, event, this.confidential);
    if (this.error !== null) return;
    if (event.type === audioDone && this.progress > 0) {
      this.generated.finishReason = 'stop';
      this.finished = true;
    } else if (event.type !== audioDelta || textIn(event.audio) === null) return;
    this.progress++;
    this.writer.forward(event, { bytes, start, end, from });
  }
}

const nothing = Buffer.alloc(0);
/** Of bytes in one group of base64: what is cut elsewhere cannot be joined. */
const group = 3;

/** Sound that came as it is, as the events that were asked for. */
export class SoundAsEvents implements AnswerStream {
  readonly usage = null;
  readonly generated = new Generation();
  readonly begun = true;
  progress = 0;
  /** Too few for a group. */
  private rest = nothing;
  private readonly writer: AnswerWriter;

  constructor({ channel, caller, info }: StreamInput) {
    this.writer = writerFor(caller, channel, info);
  }

  get unfinished(): number {
    return this.rest.length + (this.writer.kept ?? 0);
  }

  push(chunk: Buffer): StreamStep {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const whole = bytes.length - (bytes.length % group);
    this.rest = Buffer.from(bytes.subarray(whole));
    this.put(bytes.subarray(0, whole));
    return this.step(false);
  }

  end(): StreamStep {
    this.put(this.rest);
    this.rest = nothing;
    if (this.progress > 0) {
      this.generated.finishReason = 'stop';
      this.writer.write({ type: audioDone }, 0);
    }
    return this.step(true);
  }

  closing(usage: Usage): Buffer {
    return this.writer.closing(usage);
  }

  private put(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.progress++;
    this.writer.write({ type: audioDelta, audio: bytes.toString('base64') }, bytes.length);
  }

  private step(finished: boolean): StreamStep {
    return { bytes: this.writer.take(), error: null, finished };
  }
}
