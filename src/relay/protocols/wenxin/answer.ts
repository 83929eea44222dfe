import { countIn, isList, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import { embeddingList, orderedVectors } from '../embeddings.js';
import type { OpenAiVariant, Reading } from '../openai/variant.js';

/* What Wenxin answers, put into OpenAI's words: whole answers and pieces of a stream have the same members. */

/** https://cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh */
const statuses: readonly (readonly [RegExp, number])[] = [
  [/^(13|14|15|100|110|111)$/, 401],
  [/^(6|336004)$/, 403],
  [/^(4|17|18|19|336100|336501|336502)$/, 429],
  [/^(336005|336404)$/, 404],
  [/^(3|336001|336002|336003|336006|336007|33610[1-9]|336200)$/, 400],
];

const statusOf = (code: string): number => statuses.find(([pattern]) => pattern.test(code))?.[1] ?? 502;

/** The token was not taken, or has ended: another one is. */
export const wenxinFailure: OpenAiVariant['failure'] = ({ error_code: reported, error_msg: message }) => {
  const code = typeof reported === 'number' || typeof reported === 'string' ? String(reported) : '0';
  return code === '0' || code === '' ? null : { status: statusOf(code), code, message: textIn(message) };
};

/** Each answer has one call at most, and no id for it. */
function callIn(called: JsonValue | undefined, { info }: Reading): JsonObject[] {
  const name = isObject(called) ? textIn(called.name) : null;
  if (!isObject(called) || name === null) return [];
  const given = { name, arguments: textIn(called.arguments) ?? '{}' };
  return [{ index: 0, id: `call_${info.callId}`, type: 'function', function: given }];
}

const reasons = new Map([
  ['normal', 'stop'],
  ['function_call', 'tool_calls'],
]);

/** Streams repeat a reason in every piece: that of the last one counts. */
function reasonOf(answer: JsonObject, called: boolean, reading: Reading): string | null {
  if (reading.streamed && answer.is_end !== true) return null;
  if (called || reading.toolCalls > 0) return 'tool_calls';
  if (answer.is_truncated === true) return 'length';
  const reason = textIn(answer.finish_reason) ?? 'stop';
  return reasons.get(reason) ?? reason;
}

function vectorsOf({ data, usage }: JsonObject, { info }: Reading): JsonObject | null {
  const vectors = isList(data) ? orderedVectors(data, 'index', 'embedding') : null;
  if (vectors === null) return null;
  const { prompt_tokens: prompt, total_tokens: total } = isObject(usage) ? usage : {};
  return embeddingList(info.model, vectors, countIn(prompt) ?? countIn(total)) as JsonObject;
}

export const wenxinTranslation: OpenAiVariant['translate'] = (answer, reading) => {
  if (reading.mode === 'embeddings') return vectorsOf(answer, reading);
  const { result, function_call: called, usage, is_end: ended } = answer;
  const calls = callIn(called, reading);
  if (typeof result !== 'string' && calls.length === 0 && ended !== true) return null;
  const { info, streamed } = reading;
  const said = {
    role: 'assistant',
    content: textIn(result) ?? '',
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id: textIn(answer.id) ?? `chatcmpl-${info.callId}`,
    object: streamed ? 'chat.completion.chunk' : 'chat.completion',
    created: countIn(answer.created) ?? info.createdAt,
    model: info.model,
    choices: [
      { index: 0, [streamed ? 'delta' : 'message']: said, finish_reason: reasonOf(answer, calls.length > 0, reading) },
    ],
    ...(isObject(usage) && { usage }),
  };
};

export const isLastOfWenxin = ({ is_end: ended }: JsonObject): boolean => ended === true;
