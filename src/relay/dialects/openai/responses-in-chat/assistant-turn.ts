import type { ChatMessage } from '../../../contracts/neutral-request.js';
import type { JsonObject } from '../../../json/json.js';
import type { CarriedReasoning } from '../../../protocols/openai/carried-reasoning.js';
import { plainContent } from './parts.js';

/* Items of a model in a row, gathered into the one message that they are in chat. */

interface MadeCall {
  readonly id: string;
  /** Of the item, for who is sent it. */
  readonly path: string;
}

export class AssistantTurn {
  /** In their order: each wants its output. */
  readonly calls: MadeCall[] = [];
  private readonly parts: JsonObject[] = [];
  private readonly toolCalls: { readonly id: string; readonly type: 'function'; readonly function: JsonObject }[] = [];
  private readonly details: JsonObject[] = [];
  private readonly extra = new Map<string, JsonObject>();
  private thought = '';
  private member: 'reasoning' | 'reasoning_content' = 'reasoning_content';

  /** Nothing was said and nothing called: an answer that was given up while it was thought about. */
  get isEmpty(): boolean {
    return this.parts.length === 0 && this.toolCalls.length === 0;
  }

  say(parts: readonly JsonObject[]): void {
    this.parts.push(...parts);
  }

  think({ member, text, details = [], call, extraContent }: CarriedReasoning): void {
    if (member !== undefined) this.member = member;
    if (text !== undefined) this.thought += text;
    for (const detail of details)
      this.details.push(
        detail.type === 'reasoning.text' && detail.text === undefined ? { ...detail, text: text ?? '' } : detail,
      );
    if (call !== undefined && extraContent !== undefined) this.extra.set(call, extraContent);
  }

  call(made: MadeCall, name: string, given: string): void {
    this.calls.push(made);
    this.toolCalls.push({ id: made.id, type: 'function', function: { name, arguments: given } });
  }

  message(): ChatMessage {
    const { parts, toolCalls, details, extra, thought, member } = this;
    const calls = toolCalls.map((call) => {
      const extraContent = extra.get(call.id);
      return extraContent === undefined ? call : { ...call, extra_content: extraContent };
    });
    return {
      role: 'assistant',
      content: parts.length === 0 && calls.length > 0 ? null : plainContent(parts),
      ...(thought !== '' && { [member]: thought }),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
  }
}
