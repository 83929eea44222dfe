import { maxChoices } from '../../contracts/protocol.js';
import { type JsonObject, scalarText, textIn } from '../../json/json.js';

/* Reasoning as a part of the content, for clients that show nothing else. */

const thinkingOpens = '<think>\n';
const thinkingCloses = '\n</think>\n';

const maxIndex = 16;

/** Moves reasoning into the content of a stream, choice by choice, and sees to it that what was opened is closed. */
export class ThinkingStream {
  private readonly open = new Set<string>();

  /** Rewrites a delta in place. Gives the choice to send before this one when the thinking has ended. */
  rewrite(choice: JsonObject, delta: JsonObject | null): JsonObject | null {
    const index = scalarText(choice.index ?? 0);
    const reasoning = delta && (textIn(delta.reasoning_content) ?? textIn(delta.reasoning));
    const content = delta && textIn(delta.content);
    if (delta) {
      delete delta.reasoning_content;
      delete delta.reasoning;
    }
    const ends = content !== null || Boolean(delta?.tool_calls) || textIn(choice.finish_reason) !== null;
    if (delta && reasoning !== null) {
      const opening = this.open.has(index) ? '' : thinkingOpens;
      delta.content = opening + reasoning + (ends ? thinkingCloses + (content ?? '') : '');
      if (ends) this.open.delete(index);
      else if (this.open.size < maxChoices && index.length <= maxIndex) this.open.add(index);
      return null;
    }
    return ends && this.open.delete(index) ? closingChoice(choice.index ?? 0) : null;
  }

  /** Closes what the upstream left open. */
  close(): JsonObject[] {
    const left = [...this.open];
    this.open.clear();
    return left.map((index) => closingChoice(Number(index)));
  }
}

const closingChoice = (index: JsonObject['index']): JsonObject => ({
  index,
  delta: { content: thinkingCloses },
  logprobs: null,
  finish_reason: null,
});

/** A whole answer's reasoning put in front of its content. In place. */
export function thinkingIntoContent(message: JsonObject): void {
  const reasoning = textIn(message.reasoning_content) ?? textIn(message.reasoning);
  delete message.reasoning_content;
  delete message.reasoning;
  if (reasoning === null) return;
  message.content = thinkingOpens + reasoning + thinkingCloses + (textIn(message.content) ?? '');
}
