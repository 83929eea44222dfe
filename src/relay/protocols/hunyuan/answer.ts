import {
  countIn,
  isList,
  isObject,
  type JsonObject,
  type JsonValue,
  objectsIn,
  scalarText,
  textIn,
} from '../../json/json.js';
import { embeddingList, orderedVectors } from '../embeddings.js';
import type { OpenAiVariant, Reading } from '../openai/variant.js';

/* What Hunyuan answers, put into OpenAI's words: whole answers stand in `Response`, pieces of a stream do not. */

const inside = (body: JsonObject): JsonObject => (isObject(body.Response) ? body.Response : body);

/** https://cloud.tencent.com/document/product/1729/101838 and the codes that all of Tencent Cloud's interfaces have. */
const statuses: readonly (readonly [RegExp, number])[] = [
  // The clocks differ: nothing is wrong with the key.
  [/^AuthFailure\.SignatureExpire/, 502],
  [/^AuthFailure/, 401],
  [/^(LimitExceeded|RequestLimitExceeded)/, 429],
  [/ResourcePackExhausted|InArrears|^FailedOperation\.ServiceStop/, 402],
  [/^ResourceInsufficient/, 429],
  [/UserUnAuthError|^UnauthorizedOperation|^OperationDenied|ServiceNotActivated/, 403],
  [/^(InvalidParameter|MissingParameter|UnknownParameter|InvalidAction|NoSuchVersion|UnsupportedOperation)/, 400],
  [/Moderation|Sensitive|^FailedOperation\.UserPromptIllegal/i, 400],
  [/^ResourceNotFound/, 404],
  [/^4001$|Timeout/, 504],
];

const statusOf = (code: string): number => statuses.find(([pattern]) => pattern.test(code))?.[1] ?? 502;

export const hunyuanFailure: OpenAiVariant['failure'] = (body) => {
  const { Error: error, ErrorMsg: amid } = inside(body);
  if (isObject(error)) {
    const code = textIn(error.Code) ?? 'bad_response_body';
    return { status: statusOf(code), code, message: textIn(error.Message) };
  }
  if (!isObject(amid)) return null;
  const code = scalarText(amid.Code);
  const message = textIn(amid.Msg);
  // Some answers have the member with nothing in it.
  return message === null && (code === '' || code === '0') ? null : { status: statusOf(code), code, message };
};

function callsIn(calls: JsonValue | undefined): JsonObject[] {
  return objectsIn(calls).map(({ Id: id, Type: type, Index: index, Function: called }, at) => {
    const { Name: name, Arguments: given } = isObject(called) ? called : {};
    return {
      index: countIn(index) ?? at,
      ...(textIn(id) !== null && { id }),
      type: textIn(type) ?? 'function',
      function: { ...(textIn(name) !== null && { name }), arguments: textIn(given) ?? '' },
    };
  });
}

function messageOf(said: JsonObject): JsonObject {
  const { Role: role, Content: content, ReasoningContent: thought, ToolCalls: calls } = said;
  return {
    ...(textIn(role) !== null && { role }),
    content: textIn(content) ?? '',
    ...(textIn(thought) !== null && { reasoning_content: thought }),
    ...(objectsIn(calls).length > 0 && { tool_calls: callsIn(calls) }),
  };
}

/** Counts come as numbers, and one of them as a text. */
function usageOf(reported: JsonValue | undefined): JsonObject | null {
  if (!isObject(reported)) return null;
  const { PromptTokens, CompletionTokens, TotalTokens, PromptTokensDetails: details } = reported;
  const cached = isObject(details) ? countIn(Number(scalarText(details.CachedTokens))) : null;
  return {
    prompt_tokens: PromptTokens,
    completion_tokens: CompletionTokens,
    total_tokens: TotalTokens,
    ...(cached !== null && cached > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
  };
}

function vectorsOf({ Data: data, Usage: usage }: JsonObject, { info }: Reading): JsonObject | null {
  const vectors = isList(data) ? orderedVectors(data, 'Index', 'Embedding') : null;
  if (vectors === null) return null;
  const { PromptTokens: prompt, TotalTokens: total } = isObject(usage) ? usage : {};
  return embeddingList(info.model, vectors, countIn(prompt) ?? countIn(total)) as JsonObject;
}

export const hunyuanTranslation: OpenAiVariant['translate'] = (body, reading) => {
  const answer = inside(body);
  if (reading.mode === 'embeddings') return vectorsOf(answer, reading);
  if (!isList(answer.Choices)) return null;
  const { info, streamed } = reading;
  const usage = usageOf(answer.Usage);
  return {
    id: textIn(answer.Id) ?? `chatcmpl-${info.callId}`,
    object: streamed ? 'chat.completion.chunk' : 'chat.completion',
    created: countIn(answer.Created) ?? info.createdAt,
    model: info.model,
    choices: objectsIn(answer.Choices).map(
      ({ Index: index, Delta: delta, Message: message, FinishReason: reason }) => ({
        index: countIn(index) ?? 0,
        [streamed ? 'delta' : 'message']: messageOf(isObject(delta) ? delta : isObject(message) ? message : {}),
        finish_reason: textIn(reason),
      }),
    ),
    ...(usage !== null && { usage }),
  };
};
