import { factsOf } from '../../../domain/models/model-facts.js';
import type { ChatRequest } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn } from '../../json/json.js';
import { functionChoice, functionsOffered, type OfferedFunction, refuseUnsupported, stopTexts } from '../chat-words.js';
import { declinesThinking } from '../declined-thinking.js';
import type { Edit, Target } from '../openai/variant.js';
import { cohereConversation } from './messages.js';

/* A chat in Cohere's words: https://docs.cohere.com/reference/chat. */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

const within = (value: JsonValue | undefined, lowest: number, highest: number): number | undefined =>
  typeof value === 'number' ? Math.min(Math.max(value, lowest), highest) : undefined;

const maxStops = 5;

/** Throws NotConvertible. */
function stopsIn(body: ChatRequest): readonly string[] | undefined {
  const stops = stopTexts(body);
  if (stops.length > maxStops) throw refused(`stop: this provider takes at most ${maxStops} texts`);
  return stops.length > 0 ? stops : undefined;
}

/** What would be asked for and not given. Throws NotConvertible naming it. */
function refuseOthers(body: ChatRequest, bias: JsonValue | undefined): void {
  refuseUnsupported(body, { formats: true });
  if (isObject(bias) && Object.keys(bias).length > 0) throw refused('logit_bias: this provider has none');
}

const isStrict =
  ({ tools, functions }: ChatRequest) =>
  ({ name }: OfferedFunction): boolean =>
    [...objectsIn(tools).map((tool) => tool.function), ...objectsIn(functions)].some(
      (one) => isObject(one) && one.name === name && one.strict === true,
    );

/** One tool of many is called for sure where no other is offered. Throws NotConvertible. */
function toolsIn(body: ChatRequest): JsonObject {
  const offered = functionsOffered(body);
  if (offered.length === 0) return {};
  const choice = functionChoice(body);
  const named = choice !== null && typeof choice === 'object' ? choice.name : undefined;
  const chosen = named === undefined ? offered : offered.filter(({ name }) => name === named);
  if (chosen.length === 0) throw refused('tool_choice names a function that is not among the tools');
  return {
    tools: chosen.map(
      ({ name, description, parameters }): JsonObject => ({
        type: 'function',
        function: { name, ...(description !== null && { description }), parameters },
      }),
    ),
    ...(chosen.every(isStrict(body)) && { strict_tools: true }),
    ...(choice === 'none' && { tool_choice: 'NONE' }),
    ...((choice === 'required' || named !== undefined) && { tool_choice: 'REQUIRED' }),
  };
}

function formatIn({ response_format: format }: JsonObject): JsonObject | undefined {
  if (!isObject(format) || (format.type !== 'json_object' && format.type !== 'json_schema')) return undefined;
  const { json_schema: given } = format;
  const schema = isObject(given) ? (given.schema ?? given) : undefined;
  return { type: 'json_object', ...(isObject(schema) && { json_schema: schema }) };
}

/** Models that think do so unless they are told not to; the others take no word of it. */
function thinkingIn(body: JsonObject, { caller, model }: Target): JsonObject | undefined {
  const said: JsonObject = caller.dialect.wire === 'openai' ? body : { ...body, ...caller.neutral().body };
  if (declinesThinking(said)) return factsOf(model).thinksUnasked ? { type: 'disabled' } : undefined;
  const { thinking } = said;
  if (!isObject(thinking)) return undefined;
  const budget = countIn(thinking.token_budget) ?? countIn(thinking.budget_tokens);
  if (budget === null) return undefined;
  const limit = countIn(body.max_tokens);
  return { type: 'enabled', token_budget: limit === null ? budget : Math.max(Math.min(budget, limit - 1), 1) };
}

/** Members of Cohere's own that callers may give as they are. */
const own = ['citation_options', 'safety_mode', 'strict_tools'];

export const cohereChat: Edit = (body, target) => {
  const chat = body as ChatRequest;
  refuseOthers(chat, body.logit_bias);
  const { messages, documents } = cohereConversation(body.messages);
  const cited = [...(isList(body.documents) ? body.documents : []), ...documents];
  return {
    model: body.model,
    messages,
    stream: target.caller.stream,
    max_tokens: countIn(body.max_tokens) || undefined,
    temperature: within(body.temperature, 0, 1),
    p: within(body.top_p, 0.01, 0.99),
    k: within(body.top_k, 0, 500),
    seed: typeof body.seed === 'number' ? body.seed : undefined,
    frequency_penalty: within(body.frequency_penalty, 0, 1),
    presence_penalty: within(body.presence_penalty, 0, 1),
    stop_sequences: stopsIn(chat),
    ...toolsIn(chat),
    response_format: formatIn(body),
    thinking: thinkingIn(body, target),
    ...(cited.length > 0 && { documents: cited }),
    ...Object.fromEntries(own.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]))),
  };
};
