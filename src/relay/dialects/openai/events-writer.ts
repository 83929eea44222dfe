import type { Usage } from '../../../domain/call/usage.js';
import type { AnswerWriter } from '../../contracts/answer-writer.js';
import type { JsonObject } from '../../json/json.js';
import { textIn } from '../../json/json.js';
import { type Frame, Outgoing } from '../../upstream/sse.js';
import { eventText, isNamed, namedFrame } from '../named-events.js';

const nothing = Buffer.alloc(0);

interface Held {
  readonly event: JsonObject;
  readonly frame: Buffer;
}

/** What ends a stream of events, and how it says what is charged: the same event where it says that already. */
interface LastEvent {
  readonly isLast: (type: string) => boolean;
  readonly charged: (event: JsonObject, usage: Usage) => JsonObject;
}

/** Events known by their names, of which the last has the usage: it waits until the call is settled. */
export class EventsWriter implements AnswerWriter {
  private readonly outgoing = new Outgoing();
  private held: Held | null = null;

  constructor(private readonly end: LastEvent) {}

  get kept(): number {
    return this.held?.frame.length ?? 0;
  }

  write(event: JsonObject): void {
    this.add(event, written(event));
  }

  forward(event: JsonObject, frame: Frame): void {
    if (!this.isLast(event) && isNamed(frame.bytes, frame.from))
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
    const charged = this.end.charged(held.event, usage);
    this.outgoing.whole(charged === held.event ? held.frame : written(charged));
    return this.outgoing.take() ?? nothing;
  }

  private isLast({ type }: JsonObject): boolean {
    return this.end.isLast(textIn(type) ?? '');
  }

  private add(event: JsonObject, frame: Buffer): void {
    if (this.held !== null) this.outgoing.whole(this.held.frame);
    this.held = this.isLast(event) ? { event, frame } : null;
    if (this.held === null) this.outgoing.whole(frame);
  }
}

function written({ type, ...rest }: JsonObject): Buffer {
  return Buffer.from(eventText(textIn(type) ?? '', rest));
}
