import type { Usage } from '../../domain/call/usage.js';
import type { AnswerWriter, WholeAnswer } from '../contracts/answer-writer.js';
import { type CallerRequest, type CallInfo, maxChoices } from '../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn } from '../json/json.js';
import { messageIn } from './openai/reply.js';

/* A stream put together into the whole answer it is the pieces of. */

const maxToolCalls = 1024;
const nothing = Buffer.alloc(0);

/** Arguments come in pieces, the rest with the first of them; some repeat it empty. */
function addToolCall(calls: Map<JsonValue, JsonObject>, { index = 0, ...call }: JsonObject): void {
  const known = calls.get(index);
  if (known === undefined) {
    if (calls.size < maxToolCalls) calls.set(index, call);
    return;
  }
  const before = isObject(known.function) ? known.function : {};
  const added = isObject(call.function) ? call.function : {};
  known.function = {
    ...before,
    name: before.name || added.name,
    arguments: `${before.arguments ?? ''}${added.arguments ?? ''}`,
  };
}

class AccumulatedChoice {
  private readonly message = new Map<string, JsonValue | undefined>([['content', null]]);
  private readonly toolCalls = new Map<JsonValue, JsonObject>();
  private finishReason: JsonValue = null;

  constructor(private readonly index: JsonValue) {}

  add(choice: JsonObject): void {
    this.finishReason = choice.finish_reason ?? this.finishReason;
    const { role: _, tool_calls: calls, ...words } = messageIn(choice) ?? {};
    for (const call of objectsIn(calls)) addToolCall(this.toolCalls, call);
    for (const [name, value] of Object.entries(words))
      if (typeof value === 'string') this.message.set(name, `${this.message.get(name) ?? ''}${value}`);
      // Where there is nothing to add some say so.
      else if (value !== null) this.message.set(name, value);
  }

  whole(): JsonObject {
    const { index, finishReason } = this;
    const message: JsonObject = { role: 'assistant', ...Object.fromEntries(this.message) };
    if (this.toolCalls.size > 0) {
      message.content ||= null;
      message.tool_calls = [...this.toolCalls.values()];
    }
    return { index, message, finish_reason: finishReason };
  }
}

export class AnswerAccumulator implements AnswerWriter {
  private head: JsonObject = {};
  private readonly choices = new Map<JsonValue, AccumulatedChoice>();
  private reported: Usage | null = null;
  private words: JsonObject | null = null;

  constructor(private readonly info: CallInfo) {}

  /** The caller as whoever reads the stream is to see it: what it reads comes here, in neutral words. */
  asCaller(caller: CallerRequest): CallerRequest {
    return { ...caller, dialect: { ...caller.dialect, wire: 'openai', writer: () => this } };
  }

  write({ choices, ...head }: JsonObject): void {
    this.head = head;
    for (const choice of objectsIn(choices)) this.choice(choice.index ?? 0)?.add(choice);
  }

  forward(chunk: JsonObject): void {
    this.write(chunk);
  }

  forwardLike(): false {
    return false;
  }

  usage(usage: Usage, words: JsonObject | null): void {
    this.reported = usage;
    this.words = words;
  }

  take(): null {
    return null;
  }

  closing(): Buffer {
    return nothing;
  }

  answer(): WholeAnswer {
    const { head, info, words } = this;
    const body: JsonObject = {
      ...head,
      id: head.id || info.callId,
      object: 'chat.completion',
      created: head.created || info.createdAt,
      model: head.model || info.model,
      choices: Array.from(this.choices.values(), (choice) => choice.whole()),
      ...(words !== null && { usage: words }),
    };
    return { body, received: nothing, untouched: false, usage: this.reported };
  }

  private choice(index: JsonValue): AccumulatedChoice | undefined {
    let found = this.choices.get(index);
    if (found === undefined && this.choices.size < maxChoices) {
      found = new AccumulatedChoice(index);
      this.choices.set(index, found);
    }
    return found;
  }
}
