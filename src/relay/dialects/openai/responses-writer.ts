import type { Usage } from '../../../domain/call/usage.js';
import type { AnswerWriter, WholeAnswer } from '../../contracts/answer-writer.js';
import { isObject, type JsonObject, parseJson, scalarText, textIn } from '../../json/json.js';
import { rewrittenBytes, rewrittenJson } from '../../protocols/carried.js';
import { withoutCost } from '../../protocols/openai/reported-cost.js';
import { lastEvents } from '../../protocols/openai/responses-stream.js';
import { correctedResponsesUsage, writeResponsesUsage } from '../../protocols/openai/responses-usage.js';
import { type Frame, Outgoing } from '../../upstream/sse.js';
import { dataOf, eventOfData, eventText, isNamed, namedFrame } from '../named-events.js';

/* Answers for clients of the Responses interface: as they came, but for usage that is not the one that is charged. */

/** The usage that upstream reported, made to say what is charged; the same object where it does. */
const saying = (reported: JsonObject[string], usage: Usage): JsonObject =>
  isObject(reported) ? correctedResponsesUsage(reported, usage) : writeResponsesUsage(usage);

interface Held {
  readonly event: JsonObject;
  readonly frame: Buffer;
  /** The event as it is written. */
  readonly data: string;
}

const nothing = Buffer.alloc(0);

/** In a frame as it comes: escapes would stand in any text that looks like it. */
const numberName = Buffer.from('"sequence_number":');
const [zero, nine, blank] = [0x30, 0x39, 0x20];

/** `at`: of the name. */
function sequenceAt(bytes: Buffer, at: number): number {
  let sequence = 0;
  let place = at + numberName.length;
  if (bytes[place] === blank) place++;
  for (; ; place++) {
    const digit = bytes[place] ?? 0;
    if (digit < zero || digit > nine) return sequence;
    sequence = sequence * 10 + digit - zero;
  }
}

/** A stream. Its last event has the whole response with the usage: it waits until the call is settled. */
export class ResponsesWriter implements AnswerWriter {
  private readonly outgoing = new Outgoing();
  private held: Held | null = null;
  /** One more than that of the last event. 0: none has had a number. */
  nextSequence = 0;

  write(event: JsonObject): void {
    this.number(event);
    const { type, ...rest } = event;
    const frame = Buffer.from(eventText(textIn(type) ?? '', rest));
    if (lastEvents.has(scalarText(type)))
      this.held = { event, frame, data: frame.toString('utf8').replace(/^.*\ndata: /, '') };
    else this.outgoing.whole(frame);
  }

  forward(event: JsonObject, frame: Frame): void {
    const { bytes, end, from } = frame;
    if (!lastEvents.has(scalarText(event.type))) this.number(event);
    if (lastEvents.has(scalarText(event.type)))
      this.held = { event, frame: namedFrame(event, frame), data: dataOf(frame) };
    else if (isNamed(bytes, from)) this.outgoing.pass(bytes, from, end + 2);
    else this.outgoing.whole(namedFrame(event, frame));
  }

  forwardLike(bytes: Buffer, from: number, to: number): boolean {
    if (!isNamed(bytes, from)) return false;
    this.outgoing.pass(bytes, from, to);
    if (this.nextSequence > 0) this.nextSequence = sequenceAt(bytes, bytes.lastIndexOf(numberName, to)) + 1;
    return true;
  }

  /** It stands in the last event. */
  usage(): void {}

  take(): Buffer | null {
    return this.outgoing.take();
  }

  closing(usage: Usage): Buffer {
    if (this.held !== null) this.outgoing.whole(this.last(this.held, usage));
    return this.outgoing.take() ?? nothing;
  }

  private number({ sequence_number: sequence }: JsonObject): void {
    if (typeof sequence === 'number') this.nextSequence = sequence + 1;
  }

  private last({ event, frame, data }: Held, usage: Usage): Buffer {
    const { response } = event;
    if (!isObject(response)) return frame;
    const words = saying(response.usage, usage);
    if (words === response.usage) return frame;
    const mended = { ...event, response: { ...response, usage: words } };
    return eventOfData(textIn(event.type) ?? '', rewrittenJson(data, mended));
  }
}

export function responsesWholeAnswer({ body, received, usage }: WholeAnswer): Buffer {
  if (!isObject(body.usage)) return received;
  const words = usage === null ? withoutCost(body.usage) : correctedResponsesUsage(body.usage, usage);
  return words === body.usage ? received : Buffer.from(rewrittenBytes(received, { ...body, usage: words }));
}

/** Parses the answer once more: few answers come this way. */
export function withResponsesUsage(bytes: Buffer, usage: Usage): Buffer {
  const answer = parseJson(bytes.toString('utf8'));
  if (!isObject(answer)) return bytes;
  return Buffer.from(rewrittenBytes(bytes, { ...answer, usage: saying(answer.usage, usage) }));
}
