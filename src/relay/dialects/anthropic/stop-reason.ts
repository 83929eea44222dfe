import { type JsonObject, textIn } from '../../json/json.js';

const stopReasons: ReadonlyMap<string, string> = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
]);

/** Why an answer ended, of a neutral choice. `calls`: it has called tools, which some do not say here. */
export function stopReasonOf(
  { finish_reason: reason, stop_sequence: sequence }: JsonObject,
  calls: boolean,
): JsonObject {
  const known = stopReasons.get(textIn(reason) ?? 'stop') ?? 'end_turn';
  const stopped = textIn(sequence);
  if (known !== 'end_turn') return { stop_reason: known, stop_sequence: null };
  if (calls) return { stop_reason: 'tool_use', stop_sequence: null };
  return { stop_reason: stopped === null ? known : 'stop_sequence', stop_sequence: stopped };
}
