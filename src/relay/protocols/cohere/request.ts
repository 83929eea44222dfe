import { factsOf } from '../../../domain/models/model-facts.js';
import { hostedSearchesIn } from '../../contracts/hosted-search.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { functionChoice } from '../chat-words.js';
import { declinesThinking } from '../declined-thinking.js';
import type { Edit, Target } from '../openai/variant.js';
import { cohereConversation } from './messages.js';

/* A chat in Cohere's words: https://docs.cohere.com/reference/chat. */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

const within = (value: JsonValue | undefined, lowest: number, highest: number): number | undefined =>
  typeof value === 'number' ? Math.min(Math.max(value, lowest), highest) : undefined;

const maxStops = 5;

/** Throws NotConvertible. */
function stopsIn({ stop }: JsonObject): readonly JsonValue[] | undefined {
  const stops = (isList(stop) ? stop : [stop ?? '']).filter((one) => textIn(one) !== null);
  if (stops.length > maxStops) throw refused(`stop: this provider takes at most ${maxStops} texts`);
  return stops.length > 0 ? stops : undefined;
}

/** What would be asked for and not given. Throws NotConvertible naming it. */
function refuseOthers(body: JsonObject): void {
  const { n, logprobs, logit_bias: bias, modalities, parallel_tool_calls: parallel } = body;
  if ((countIn(n) ?? 1) > 1) throw refused('n: this provider gives one choice');
  if (logprobs === true) throw refused('logprobs: this provider reports none in this form');
  if (isObject(bias) && Object.keys(bias).length > 0) throw refused('logit_bias: this provider has none');
  if (isList(modalities) && modalities.some((one) => one !== 'text'))
    throw refused('modalities: this provider answers with text alone');
  if (parallel === false && objectsIn(body.tools).length > 0)
    throw refused('parallel_tool_calls: this provider cannot be kept to one call at a time');
  if (hostedSearchesIn(body).length > 0) throw refused('web_search: this provider runs no searches');
}

const isNamed = (tool: JsonObject, name: JsonValue | undefined): boolean =>
  isObject(tool.function) && tool.function.name === name;

/** One tool of many is called for sure where no other is offered. Throws NotConvertible. */
function toolsIn(body: JsonObject): JsonObject {
  const listed = objectsIn(body.tools).filter(({ function: one }) => isObject(one));
  const offered = [...listed, ...objectsIn(body.functions).map((one) => ({ type: 'function', function: one }))];
  if (offered.length < objectsIn(body.tools).length + objectsIn(body.functions).length && body.tool_choice !== 'none') {
    const other = objectsIn(body.tools).findIndex(({ function: one }) => !isObject(one));
    throw refused(`tools[${other}]: this provider takes tools of type function`);
  }
  if (offered.length === 0) return {};
  const choice = functionChoice(body);
  const named = choice !== null && typeof choice === 'object' ? choice.name : undefined;
  const chosen = named === undefined ? offered : offered.filter((tool) => isNamed(tool, named));
  if (chosen.length === 0) throw refused('tool_choice names a function that is not among the tools');
  const tools = chosen.map(({ function: one }): JsonObject => {
    const { name, description, parameters } = isObject(one) ? one : {};
    return { type: 'function', function: { name, description, parameters: parameters ?? {} } };
  });
  const strict = chosen.every(({ function: one }) => isObject(one) && one.strict === true);
  return {
    tools,
    ...(strict && { strict_tools: true }),
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
  refuseOthers(body);
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
    stop_sequences: stopsIn(body),
    ...toolsIn(body),
    response_format: formatIn(body),
    thinking: thinkingIn(body, target),
    ...(cited.length > 0 && { documents: cited }),
    ...Object.fromEntries(own.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]))),
  };
};
