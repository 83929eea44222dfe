import {
  anthropicToolCharge,
  googleToolCharge,
  openAiToolCharge,
  ownFunction,
  type ToolCharge,
} from '../../domain/pricing/provider-tools.js';
import type { ToolCalls } from '../../domain/pricing/quantities.js';
import { isList, isObject, type JsonObject, type JsonValue, memberNamesIn, objectsIn, textIn } from '../json/json.js';
import { inlineTools } from './inline-tools.js';

/* Which tools of a provider's own a body asks for, in the words of any wire. */

/** A function of the client's is nobody else's, whatever it is called, unless its name switches on a provider's tool. */
const switchedCharge = ({ name }: JsonObject, switched: ReadonlySet<string>): ToolCharge => {
  const named = textIn(name) ?? '';
  return switched.has(named) ? (googleToolCharge(named) ?? null) : null;
};

/** Only operators send it: a search of Google's by another name. */
const enterpriseSearch: ReadonlySet<string> = new Set(['enterpriseWebSearch', 'enterprise_web_search']);

const chargesOfMembers = (tool: JsonObject): ToolCalls[] =>
  memberNamesIn(tool).flatMap((name) => {
    const charge = enterpriseSearch.has(name) ? 'calls:google_search' : googleToolCharge(name);
    return charge === undefined || charge === null ? [] : [charge];
  });

/** What one tool is counted as. */
function chargesOf(tool: JsonObject, switched: ReadonlySet<string>): ToolCalls[] {
  const type = textIn(tool.type) ?? '';
  if (type === ownFunction) return ['calls:web_search'];
  const charge = type === 'function' ? null : (openAiToolCharge(type) ?? anthropicToolCharge(type) ?? null);
  if (charge !== null) return [charge];
  const members = chargesOfMembers(tool);
  const named = isObject(tool.function) ? switchedCharge(tool.function, switched) : null;
  return named === null ? members : [...members, named];
}

/** Members by which upstreams of OpenAI's wire are asked to search: OpenAI's, xAI's, DashScope's, Baidu's, Hunyuan's. */
const searchSwitches = ['web_search_options', 'search_parameters', 'enable_search', 'web_search', 'enable_enhancement'];

const isOn = (value: JsonValue | undefined): boolean =>
  (value ?? null) !== null &&
  value !== false &&
  !(isObject(value) && (value.enable === false || value.enabled === false || value.mode === 'off'));

/** Vendors' members may stand in these as well. */
const holders = ['extra_body', 'google'];
const deepest = 4;

/** A tool that is asked for; `by`: it itself, or the member of the body that switches it on. */
export interface AskedTool {
  readonly calls: ToolCalls;
  readonly by: JsonObject;
  /** It is a member of the body, and no entry of its tools. */
  readonly isSwitch: boolean;
}

/**
 * Those in the list of tools, and what interfaces have beside it: namespaces of tools and items of the input that add some
 * (Responses), blocks of messages that do (Anthropic).
 */
export function* toolsIn({ tools, input, messages }: JsonObject): Generator<JsonObject> {
  for (const list of [tools, ...(isList(input) ? objectsIn(input).map((item) => item.tools) : [])])
    for (const tool of objectsIn(list)) {
      yield tool;
      if (tool.type === 'namespace') yield* toolsIn({ tools: tool.tools });
    }
  for (const { tool } of inlineTools(messages)) yield tool;
}

/** Those that have a price. `switched`: functions named so are a provider's own tools. */
export function askedTools(body: JsonObject, switched: ReadonlySet<string>, depth = 0): AskedTool[] {
  const asked: AskedTool[] = [];
  for (const tool of toolsIn(body))
    for (const calls of chargesOf(tool, switched)) asked.push({ calls, by: tool, isSwitch: false });
  for (const one of objectsIn(body.functions)) {
    const calls = switchedCharge(one, switched);
    if (calls !== null) asked.push({ calls, by: one, isSwitch: false });
  }
  for (const name of searchSwitches) {
    const value = body[name];
    if (isOn(value)) asked.push({ calls: 'calls:web_search', by: isObject(value) ? value : {}, isSwitch: true });
  }
  for (const name of depth < deepest ? holders : []) {
    const held = body[name];
    if (isObject(held)) asked.push(...askedTools(held, switched, depth + 1));
  }
  return asked;
}
