import type { Usage } from '../../domain/pricing.js';
import { Outgoing } from '../upstream/sse.js';
import { isObject, type JsonObject, objectsIn, parseJson } from './json.js';
import { writtenUsage } from './openai-usage.js';
import type { AnswerStream, CallerRequest, CallInfo, Generated, StreamStep } from './protocol.js';

interface Whole {
  readonly bytes: Buffer;
  readonly usage: Usage | null;
  readonly generated: Generated;
}

const nothing: StreamStep = { bytes: null, error: null, finished: true, frames: 0 };

/** A complete answer in OpenAI's form, told as the stream that was asked for. */
export class WholeAnswerAsStream implements AnswerStream {
  readonly unfinished = 0;
  readonly usage: Usage | null;
  readonly generated: Generated;
  private readonly outgoing = new Outgoing();
  private readonly head: JsonObject;
  /** Not yet written. */
  private choices: readonly JsonObject[];
  /** In upstream's words. */
  private readonly toldUsage: JsonObject | null;

  constructor(
    whole: Whole,
    private readonly caller: CallerRequest,
    info: CallInfo,
  ) {
    this.usage = whole.usage;
    this.generated = whole.generated;
    const body = parseJson(whole.bytes.toString('utf8'));
    const { choices, usage, ...rest } = isObject(body) ? body : {};
    this.choices = objectsIn(choices);
    this.toldUsage = whole.usage !== null && isObject(usage) ? usage : null;
    this.head = {
      ...rest,
      id: rest.id || info.callId,
      object: caller.mode === 'chat' ? 'chat.completion.chunk' : 'text_completion',
      created: rest.created || info.createdAt,
      model: rest.model || info.model,
    };
  }

  /** Everything that comes before the closing. */
  frames(): Buffer | null {
    for (const choice of this.choices) {
      if (this.caller.mode === 'chat') this.writeMessage(choice);
      else this.write([choice]);
    }
    this.choices = [];
    return this.outgoing.take();
  }

  push(): StreamStep {
    return nothing;
  }

  end(): StreamStep {
    return nothing;
  }

  closing(usage: Usage): Buffer {
    const told = usage === this.usage ? this.toldUsage : null;
    if (this.caller.wantsUsage) this.write([], { usage: told ?? writtenUsage(usage) });
    this.outgoing.frame(Buffer.from('[DONE]'));
    return this.outgoing.take() ?? Buffer.alloc(0);
  }

  private writeMessage({ index, message, delta: _, finish_reason, ...rest }: JsonObject): void {
    const { tool_calls: calls, ...words } = isObject(message) ? message : {};
    const toolCalls = objectsIn(calls).map((call, at) => ({ index: at, ...call }));
    const delta = { role: 'assistant', ...words, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) };
    this.write([{ index, delta, ...rest, finish_reason: null }]);
    this.write([{ index, delta: {}, finish_reason: finish_reason ?? 'stop' }]);
  }

  private write(choices: readonly JsonObject[], more: JsonObject = {}): void {
    this.outgoing.frame(Buffer.from(JSON.stringify({ ...this.head, choices, ...more })));
  }
}
