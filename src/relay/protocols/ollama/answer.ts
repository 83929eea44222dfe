import { jsonText } from '../../json/exact-number.js';
import { countIn, isObject, type JsonObject, objectsIn, textIn } from '../../json/json.js';
import type { OpenAiVariant, Reading } from '../openai/variant.js';

/* Answers of Ollama's own interface in neutral words: one object, or one in each line of a stream. */

function usageIn({ prompt_eval_count: read, eval_count: written }: JsonObject): JsonObject | undefined {
  const prompt = countIn(read) ?? 0;
  const completion = countIn(written) ?? 0;
  if (prompt + completion === 0) return undefined;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** Calls come whole, and most without an id. */
const callsIn = ({ tool_calls: calls }: JsonObject, { toolCalls, info }: Reading): JsonObject[] =>
  objectsIn(calls).map(({ id, function: called }, at) => {
    const { name, arguments: given } = isObject(called) ? called : {};
    const index = toolCalls + at;
    return {
      index,
      id: textIn(id) ?? `call_${info.callId}_${index}`,
      type: 'function',
      function: { name, arguments: typeof given === 'string' ? given : jsonText(given ?? {}) },
    };
  });

function finishOf({ done, done_reason: reason }: JsonObject, calls: number): string | null {
  if (done !== true) return null;
  if (reason === 'length') return 'length';
  return calls > 0 ? 'tool_calls' : 'stop';
}

export const fromOwnChat: NonNullable<OpenAiVariant['translate']> = (reported, reading) => {
  const { message } = reported;
  if (!isObject(message)) return null;
  const { streamed, info, toolCalls, said } = reading;
  const calls = callsIn(message, reading);
  const thinking = textIn(message.thinking);
  const words: JsonObject = {
    ...((!streamed || !said) && { role: 'assistant' }),
    content: textIn(message.content) ?? '',
    ...(thinking !== null && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: streamed ? calls : calls.map(({ index: _, ...call }) => call) }),
  };
  const usage = usageIn(reported);
  const finish = finishOf(reported, toolCalls + calls.length);
  return {
    id: `chatcmpl-${info.callId}`,
    object: streamed ? 'chat.completion.chunk' : 'chat.completion',
    created: info.createdAt,
    model: info.model,
    choices: [{ index: 0, [streamed ? 'delta' : 'message']: words, finish_reason: finish }],
    ...(usage !== undefined && { usage }),
  };
};
