import { maxChoices } from '../../contracts/protocol.js';
import { type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { messageIn } from '../../protocols/openai/reply.js';

/** How far a choice has come: its words, its calls by either name, or the end. */
type State = 'stop' | 'tool_calls' | 'function_call' | 'ended';

const isNone = (calls: JsonValue | undefined): boolean => objectsIn(calls).length === 0;

/** The choices of a stream that have begun and have not said why they ended. */
export class UnendedChoices {
  /** Nearly every stream has this one choice. null: it has not begun. */
  private first: State | null = null;
  private others: Map<number, State> | null = null;

  note({ choices }: JsonObject): void {
    for (const choice of objectsIn(choices)) {
      const { index } = choice;
      if (typeof index !== 'number' || index === 0) this.first = stateAfter(this.first, choice);
      else {
        this.others ??= new Map();
        const known = this.others.get(index) ?? null;
        if (known !== null || this.others.size < maxChoices) this.others.set(index, stateAfter(known, choice));
      }
    }
  }

  /** The end mark came: a choice for each, with the reason it must have had. Clients take an answer without one for half of it. */
  end(chat: boolean): JsonObject[] {
    const nothing = chat ? { delta: {} } : { text: '' };
    const states: [number, State | null][] = [[0, this.first], ...(this.others ?? [])];
    this.first = null;
    this.others = null;
    return states.flatMap(([index, state]) =>
      state === null || state === 'ended' ? [] : [{ index, ...nothing, logprobs: null, finish_reason: state }],
    );
  }
}

function stateAfter(before: State | null, choice: JsonObject): State {
  if (before === 'ended' || textIn(choice.finish_reason) !== null) return 'ended';
  const message = messageIn(choice);
  if (message !== null && !isNone(message.tool_calls)) return 'tool_calls';
  if ((message?.function_call ?? null) !== null) return 'function_call';
  return before ?? 'stop';
}
