import type { Usage } from '../../../domain/call/usage.js';
import type { AnswerWriter, WholeAnswer } from '../../contracts/answer-writer.js';
import type { CallerDialect } from '../../contracts/caller-dialect.js';
import { jsonText } from '../../json/exact-number.js';
import { isObject, type JsonObject, parseJson, textIn } from '../../json/json.js';
import { withLongTexts, withoutLongTexts } from '../../json/long-texts.js';
import { imageUsageFor } from '../../protocols/openai/image-usage.js';
import { completed } from '../../protocols/openai/images-stream.js';
import { type Frame, Outgoing } from '../../upstream/sse.js';
import { eventText, isNamed, namedFrame } from '../named-events.js';
import { openAiCaller } from './dialect.js';

/* How callers of OpenAI's interface for pictures are answered: as OpenAI's are, with a usage of its own words. */

const nothing = Buffer.alloc(0);

interface Held {
  readonly event: JsonObject;
  readonly frame: Buffer;
}

/** The picture as it is finished waits until the call is settled: it has the usage. */
class ImagesWriter implements AnswerWriter {
  private readonly outgoing = new Outgoing();
  private held: Held | null = null;

  get kept(): number {
    return this.held?.frame.length ?? 0;
  }

  write(event: JsonObject): void {
    const { type, ...rest } = event;
    this.add(event, Buffer.from(eventText(textIn(type) ?? '', rest)));
  }

  forward(event: JsonObject, frame: Frame): void {
    if (!completed.test(textIn(event.type) ?? '') && isNamed(frame.bytes, frame.from))
      this.outgoing.pass(frame.bytes, frame.from, frame.end + 2);
    else this.add(event, namedFrame(event, frame));
  }

  /** No event says only more of another. */
  forwardLike(): boolean {
    return false;
  }

  /** It stands in the last event. */
  usage(): void {}

  take(): Buffer | null {
    return this.outgoing.take();
  }

  closing(usage: Usage): Buffer {
    const { held } = this;
    if (held === null) return this.outgoing.take() ?? nothing;
    this.held = null;
    this.outgoing.whole(charged(held, usage));
    return this.outgoing.take() ?? nothing;
  }

  private add(event: JsonObject, frame: Buffer): void {
    if (this.held !== null) this.outgoing.whole(this.held.frame);
    this.held = completed.test(textIn(event.type) ?? '') ? { event, frame } : null;
    if (this.held === null) this.outgoing.whole(frame);
  }
}

/** The usage that the caller is told is what is charged. */
function charged({ event, frame }: Held, usage: Usage): Buffer {
  const words = imageUsageFor(event.usage, usage);
  if (words === undefined || words === event.usage) return frame;
  const { type, ...rest } = event;
  return Buffer.from(eventText(textIn(type) ?? '', { ...rest, usage: words }));
}

const whole = ({ body, received, untouched }: WholeAnswer): Buffer =>
  untouched ? received : withLongTexts(jsonText(body), received);

/** Reads the answer once more: few come this way. */
function withUsage(bytes: Buffer, usage: Usage): Buffer {
  const answer = parseJson(withoutLongTexts(bytes).toString('utf8'));
  if (!isObject(answer)) return bytes;
  const words = imageUsageFor(answer.usage, usage);
  return words === undefined || words === answer.usage
    ? bytes
    : withLongTexts(jsonText({ ...answer, usage: words }), bytes);
}

export const imagesCaller: CallerDialect = {
  ...openAiCaller,
  // What is not known is refused by its name, however it is spelled.
  misspelled: () => null,
  writer: () => new ImagesWriter(),
  whole,
  withUsage,
  endFrame: '',
};
