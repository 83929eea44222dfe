import { isObject, type JsonObject, objectsIn } from '../../json/json.js';

const withoutUndefined = (members: JsonObject): JsonObject => {
  for (const name of Object.keys(members)) if (members[name] === undefined) delete members[name];
  return members;
};

const strictMessage = ({
  role,
  content,
  reasoning_content,
  refusal,
  tool_calls,
  function_call,
  audio,
}: JsonObject): JsonObject =>
  withoutUndefined({ role, content, reasoning_content, refusal, tool_calls, function_call, audio });

/** A body or chunk with OpenAI's members only. */
export function strictlyFormatted(body: JsonObject): JsonObject {
  const { id, object, created, model, service_tier, system_fingerprint, choices, usage } = body;
  return withoutUndefined({
    id,
    object,
    created,
    model,
    service_tier,
    system_fingerprint,
    choices: objectsIn(choices).map(({ index, delta, message, text, logprobs, finish_reason }) =>
      withoutUndefined({
        index,
        delta: isObject(delta) ? strictMessage(delta) : undefined,
        message: isObject(message) ? strictMessage(message) : undefined,
        text,
        logprobs,
        finish_reason: finish_reason ?? null,
      }),
    ),
    usage,
  });
}
