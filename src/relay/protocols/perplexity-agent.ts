import { NotConvertible } from '../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, memberNamesIn, objectsIn, textIn } from '../json/json.js';
import type { Edit, Target } from './openai/variant.js';
import { neutralAs } from './request-builder.js';

/*
 * Perplexity's Agent API, which took the place of Sonar's chat in September 2026. It is the Responses interface with fewer
 * members, and what it does not know it refuses: https://docs.perplexity.ai/api-reference/agent-post. Its members are
 * those of https://www.npmjs.com/package/@perplexity-ai/perplexity_ai.
 */

const ownModel = 'perplexity/sonar';

/**
 * How the names of Sonar are served: by its one model that is left, as often as the preset goes on searching. Which preset
 * stands for which name is a choice: https://github.com/danielmiessler/Fabric/releases/tag/v1.4.528 has the same.
 */
const presets: ReadonlyMap<string, string | null> = new Map([
  ['sonar', null],
  ['sonar-pro', 'fast'],
  ['sonar-reasoning', 'low'],
  ['sonar-reasoning-pro', 'low'],
  ['sonar-deep-research', 'high'],
]);

/** Members of Sonar's chat that say how it searches, or what is shown of it. */
const sonars =
  /^(search|web_search|return|image|last_updated|disable|enable|media)_|^(language_preference|stream_mode)$/;
/** Hints that no chat depends on. */
const hints = ['top_k', 'seed', 'logit_bias'];

/** The chat without what is said of it in other places. */
export const withoutSonarMembers: Edit = (body) => {
  const kept: JsonObject = {};
  for (const name of memberNamesIn(body))
    if (!sonars.test(name) && !hints.includes(name)) kept[name] = body[name] ?? null;
  return kept;
};

const filterNames = [
  'search_domain_filter',
  'search_recency_filter',
  'search_after_date_filter',
  'search_before_date_filter',
  'last_updated_after_filter',
  'last_updated_before_filter',
];

const present = (body: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => ((body[name] ?? null) === null ? [] : [[name, body[name] ?? null]])));

/** How a chat has its search. */
function searchOf(chat: JsonObject): JsonObject {
  const options = isObject(chat.web_search_options) ? chat.web_search_options : {};
  const filters = present(chat, filterNames);
  return {
    type: 'web_search',
    ...present(options, ['search_context_size', 'user_location']),
    ...(memberNamesIn(filters).length > 0 && { filters }),
  };
}

function partOf(part: JsonObject): JsonObject {
  const { type, text, image_url: url } = part;
  if (type === 'input_image') return { type, image_url: url ?? null };
  if (type === 'input_text' || type === 'output_text') return { type: 'input_text', text: text ?? '' };
  if (type === 'refusal') return { type: 'input_text', text: part.refusal ?? '' };
  throw new NotConvertible('caller', 'messages: this provider takes texts and pictures, and no files');
}

/** An item in its words: a message is one by its type, and has texts and pictures. */
function itemOf(item: JsonObject): JsonObject {
  const { role, content } = item;
  if (textIn(role) === null) return item;
  return {
    type: 'message',
    role: role ?? null,
    content: isList(content) ? objectsIn(content).map(partOf) : (content ?? ''),
  };
}

/** Throws NotConvertible: what is left out would change what is answered. */
function formatOf(text: JsonValue | undefined): JsonObject {
  const format = isObject(text) && isObject(text.format) ? text.format : {};
  const { type = 'text', ...schema } = format;
  if (type === 'text') return {};
  if (type !== 'json_schema')
    throw new NotConvertible('caller', 'response_format.type must be text or json_schema: this provider has no other');
  return { response_format: { type, json_schema: schema } };
}

/** Throws NotConvertible. */
function toolsOf({ tools, tool_choice: choice = 'auto' }: JsonObject): JsonObject[] {
  if (choice === 'none') return [];
  const offered = objectsIn(tools);
  if (choice !== 'auto' && offered.length > 0)
    throw new NotConvertible('caller', 'tool_choice must be auto or none: this provider has no other');
  return offered;
}

/** It knows these efforts, and thinks as it does unasked for any other. */
const efforts: ReadonlySet<unknown> = new Set(['minimal', 'low', 'medium', 'high', 'xhigh']);

const same = ['model', 'max_output_tokens', 'stream', 'temperature', 'top_p', 'store', 'instructions'];

/** A body of the Responses interface in its words, and with the search that is Sonar's. Throws NotConvertible. */
export function asAgentRun(body: JsonObject, { caller, model }: Target): JsonObject {
  const chat = neutralAs(caller, 'chat') as JsonObject;
  const { input, reasoning } = body;
  const effort =
    isObject(reasoning) && efforts.has(reasoning.effort) ? { reasoning: { effort: reasoning.effort } } : {};
  const preset = presets.get(model.replace(/^perplexity\//, ''));
  const searches = preset !== undefined && chat.disable_search !== true;
  const tools = [...(searches ? [searchOf(chat)] : []), ...toolsOf(body)];
  return {
    ...present(body, same),
    ...(preset !== undefined && { model: ownModel }),
    ...(searches && (preset === null ? { max_steps: 1 } : { preset })),
    input: isList(input) ? objectsIn(input).map(itemOf) : (input ?? ''),
    ...(tools.length > 0 && { tools }),
    ...effort,
    ...formatOf(body.text),
    ...present(chat, ['language_preference']),
  } as JsonObject;
}
