import type { StreamStep } from '../../contracts/protocol.js';
import { isObject, parseJson, textIn } from '../../json/json.js';
import type { Confidential } from '../../upstream/confidential.js';
import { BrokenFrame, type EventFrame, EventStreamDecoder } from '../../upstream/event-stream.js';
import { eventOf } from '../../upstream/sse.js';
import { type UpstreamError, unreadableAnswer } from '../../upstream/upstream-error.js';
import type { AnthropicStream } from '../anthropic/stream.js';
import { WrappedStream } from '../wrapped-stream.js';
import { failureInFrame } from './failure.js';

/** Every event begins with its type. */
const typeFirst = /^\{\s*"type"\s*:\s*"(\w{1,64})"/;
const maxBeginningLength = 128;
const metrics = '"amazon-bedrock-invocationMetrics"';
const bareEnd = Buffer.from('{"type":"message_stop"}');

const nothing = Buffer.alloc(0);

/** What a frame that is an event says, as events of Messages in text; null: nothing. */
type EventsIn = (frame: EventFrame) => Buffer | null;

/** Events of a model, each in a frame: they are put into the words of Anthropic's own stream, and read as that. */
export class BedrockStream extends WrappedStream {
  private readonly decoder = new EventStreamDecoder();
  private error: UpstreamError | null = null;

  constructor(
    read: AnthropicStream,
    private readonly confidential: Confidential,
    private readonly eventsOf: EventsIn = eventIn,
  ) {
    super(read);
  }

  override get unfinished(): number {
    return this.decoder.unfinished + this.read.unfinished;
  }

  push(chunk: Buffer): StreamStep {
    return this.step(this.read.push(this.error === null ? this.eventsIn(chunk) : nothing));
  }

  override end(): StreamStep {
    return this.step(this.read.end());
  }

  /** Those before a failure are still the caller's. */
  private eventsIn(chunk: Buffer): Buffer {
    const events: Buffer[] = [];
    try {
      for (const frame of this.decoder.push(chunk)) {
        this.error = this.failureIn(frame);
        if (this.error !== null) break;
        const event = this.eventsOf(frame);
        if (event !== null) events.push(event);
      }
    } catch (error) {
      if (!(error instanceof BrokenFrame)) throw error;
      this.error = unreadableAnswer('the upstream sent an event stream that cannot be read');
    }
    return events.length === 1 && events[0] ? events[0] : Buffer.concat(events);
  }

  private failureIn({ headers, body }: EventFrame): UpstreamError | null {
    switch (headers.get(':message-type')) {
      case 'exception': {
        const said = parseJson(body.toString('utf8'));
        return failureInFrame(headers.get(':exception-type') ?? null, isObject(said) ? said : null, this.confidential);
      }
      case 'error': {
        const message = headers.get(':error-message') ?? null;
        return failureInFrame(headers.get(':error-code') ?? null, { message }, this.confidential);
      }
      default:
        return null;
    }
  }

  /** What comes after the end does not count. */
  private step({ bytes, error, finished }: StreamStep): StreamStep {
    return { bytes, error: error ?? (finished ? null : this.error), finished };
  }
}

/** null: it holds none. */
function eventIn({ headers, body }: EventFrame): Buffer | null {
  if (headers.get(':event-type') !== 'chunk') return null;
  const chunk = parseJson(body.toString('utf8'));
  const packed = isObject(chunk) ? textIn(chunk.bytes) : null;
  if (packed === null) return null;
  const event = Buffer.from(packed, 'base64');
  const type = typeFirst.exec(event.toString('latin1', 0, maxBeginningLength))?.[1] ?? null;
  // What it adds to the end are counts of its own, beside those that are charged.
  return eventOf(type === 'message_stop' && event.includes(metrics) ? bareEnd : event, type);
}
