import type { Usage } from '../../domain/call/usage.js';
import type { AnswerWriter } from '../contracts/answer-writer.js';
import type { Answer, AnswerStream, Generated, StreamInput, StreamStep } from '../contracts/protocol.js';
import { isObject, type JsonObject, objectsIn } from '../json/json.js';
import { writerFor } from './caller-calls.js';
import { correctedOpenAiUsage } from './openai/usage.js';

const nothing: StreamStep = { bytes: null, error: null, finished: true };

/** A complete answer, written as the stream that was asked for. */
export class WholeAnswerAsStream implements AnswerStream {
  readonly unfinished = 0;
  readonly progress = 1;
  readonly begun = true;
  readonly usage: Usage | null;
  private readonly writer: AnswerWriter;
  private readonly head: JsonObject;
  private readonly chat: boolean;
  /** Not yet written. */
  private choices: readonly JsonObject[];

  readonly generated: Generated;

  constructor(
    { body, usage: read, generated }: Extract<Answer, { ok: true }>,
    { channel, caller, info }: Omit<StreamInput, 'provider'>,
  ) {
    this.generated = generated;
    const { choices, usage, ...rest } = body;
    this.usage = read;
    this.choices = objectsIn(choices);
    this.chat = caller.mode === 'chat';
    this.head = {
      ...rest,
      id: rest.id || info.callId,
      object: this.chat ? 'chat.completion.chunk' : 'text_completion',
      created: rest.created || info.createdAt,
      model: rest.model || info.model,
    };
    this.writer = writerFor(caller, channel, info);
    if (read !== null) {
      const words = isObject(usage) ? correctedOpenAiUsage(usage, read) : null;
      this.writer.usage(read, words, { ...this.head, choices: [] }, null);
    }
  }

  /** Everything that comes before the closing. */
  frames(): Buffer | null {
    for (const choice of this.choices) {
      if (this.chat) this.writeMessage(choice);
      else this.write(choice);
    }
    this.choices = [];
    return this.writer.take();
  }

  get nextSequence(): number {
    return this.writer.nextSequence ?? 0;
  }

  push(): StreamStep {
    return nothing;
  }

  end(): StreamStep {
    return nothing;
  }

  closing(usage: Usage): Buffer {
    return this.writer.closing(usage);
  }

  private writeMessage({ index, message, delta: _, finish_reason, ...rest }: JsonObject): void {
    const { tool_calls: calls, ...words } = isObject(message) ? message : {};
    const toolCalls = objectsIn(calls).map((call, at) => ({ ...call, index: at }));
    const delta = { role: 'assistant', ...words, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) };
    this.write({ index, delta, ...rest, finish_reason: null });
    this.write({ index, delta: {}, finish_reason: finish_reason ?? 'stop' });
  }

  private write(choice: JsonObject): void {
    this.writer.write({ ...this.head, choices: [choice] }, 0);
  }
}
