import { isObject, type JsonObject, objectsIn } from '../json/json.js';
import { type AnsweredWhole, type AskedAsStream, AsStream } from './as-stream.js';
import { correctedOpenAiUsage } from './openai/usage.js';

/** A complete answer, written as the stream that was asked for. */
export class WholeAnswerAsStream extends AsStream {
  private readonly head: JsonObject;
  private readonly chat: boolean;
  /** Not yet written. */
  private choices: readonly JsonObject[];

  constructor(answer: AnsweredWhole, asked: AskedAsStream) {
    super(answer, asked);
    const { choices, usage, ...rest } = answer.body;
    const { info } = asked;
    this.choices = objectsIn(choices);
    this.chat = asked.caller.mode === 'chat';
    this.head = {
      ...rest,
      id: rest.id || info.callId,
      object: this.chat ? 'chat.completion.chunk' : 'text_completion',
      created: rest.created || info.createdAt,
      model: rest.model || info.model,
    };
    if (answer.usage === null) return;
    const words = isObject(usage) ? correctedOpenAiUsage(usage, answer.usage) : null;
    this.writer.usage(answer.usage, words, { ...this.head, choices: [] }, null);
  }

  protected write(): void {
    for (const choice of this.choices) {
      if (this.chat) this.message(choice);
      else this.choice(choice);
    }
    this.choices = [];
  }

  private message({ index, message, delta: _, finish_reason, ...rest }: JsonObject): void {
    const { tool_calls: calls, ...words } = isObject(message) ? message : {};
    const toolCalls = objectsIn(calls).map((call, at) => ({ ...call, index: at }));
    const delta = { role: 'assistant', ...words, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) };
    this.choice({ index, delta, ...rest, finish_reason: null });
    this.choice({ index, delta: {}, finish_reason: finish_reason ?? 'stop' });
  }

  private choice(choice: JsonObject): void {
    this.writer.write({ ...this.head, choices: [choice] }, 0);
  }
}
