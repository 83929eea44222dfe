import { factsOf } from '../models/model-facts.js';
import type { ToolCalls } from './quantities.js';

/*
 * The tools that providers run by themselves, by wire: one closed list. What is not in it is refused by its name, for
 * nobody here knows what it costs.
 */

/** What a use is counted as, beside the tokens it brings; null: it costs its tokens alone. undefined: not in the list. */
export type ToolCharge = ToolCalls | null;

/** By the member of a tool, spelled `likeThis`. */
const google: ReadonlyMap<string, ToolCharge> = new Map<string, ToolCharge>([
  ['googleSearch', 'calls:google_search'],
  ['googleSearchRetrieval', 'calls:google_search'],
  ['googleMaps', 'calls:google_maps'],
  ['urlContext', null],
  ['codeExecution', null],
  ['computerUse', null],
]);

/** By the `type` of a tool, which may end in a date. */
const anthropic: ReadonlyMap<string, ToolCharge> = new Map<string, ToolCharge>([
  ['web_search', 'calls:web_search'],
  ['code_execution', 'calls:code_execution'],
  ['web_fetch', null],
  ['tool_search_tool_regex', null],
  ['tool_search_tool_bm25', null],
  ['mcp_toolset', null],
  // Carried out by the caller.
  ['bash', null],
  ['text_editor', null],
  ['computer', null],
  ['computer_toolset', null],
  ['browser', null],
  ['browser_toolset', null],
  ['memory', null],
]);

/** By the `type` of a tool, which may end in a date. */
const openAi: ReadonlyMap<string, ToolCharge> = new Map<string, ToolCharge>([
  ['web_search', 'calls:web_search'],
  ['web_search_preview', 'calls:web_search'],
  ['browser_search', 'calls:web_search'],
  ['code_interpreter', 'calls:code_interpreter'],
]);

/** The same of the Responses interface, where most tools are carried out by the caller or cost their tokens alone. */
const responses: ReadonlyMap<string, ToolCharge> = new Map<string, ToolCharge>([
  ['web_search', 'calls:web_search'],
  ['web_search_preview', 'calls:web_search'],
  ['code_interpreter', 'calls:code_interpreter'],
  ['mcp', null],
  ['tool_search', null],
  // Carried out by the caller.
  ['computer', null],
  ['computer_use_preview', null],
  ['local_shell', null],
  ['shell', null],
  ['apply_patch', null],
]);

export const googleToolNames = [...google.keys()];
export const anthropicToolTypes = [...anthropic.keys()];
export const openAiToolTypes = [...openAi.keys()];
export const responsesToolTypes = [...responses.keys()];

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const inBothSpellings = new Map([...google, ...[...google].map(([name, charge]) => [snake(name), charge] as const)]);

const date = /_(\d{8}|\d{4}_\d{2}_\d{2})$/;
const ofType = (list: ReadonlyMap<string, ToolCharge>, type: string): ToolCharge | undefined =>
  list.get(type) ?? list.get(type.replace(date, ''));

/** `name`: in either spelling. */
export const googleToolCharge = (name: string): ToolCharge | undefined => inBothSpellings.get(name);
export const anthropicToolCharge = (type: string): ToolCharge | undefined => ofType(anthropic, type);
export const openAiToolCharge = (type: string): ToolCharge | undefined => ofType(openAi, type);
export const responsesToolCharge = (type: string): ToolCharge | undefined => ofType(responses, type);

/** Moonshot's form of a search: a function of its own. */
export const ownFunction = 'builtin_function';
export const searchingFunction = '$web_search';

const soldIn = (list: ReadonlyMap<string, ToolCharge>): readonly ToolCalls[] => [
  ...new Set([...list.values()].filter((charge) => charge !== null)),
];
const soldBy = { google: soldIn(google), anthropic: soldIn(anthropic), openAi: soldIn(openAi) };
const ofGoogle = /(^|[/.])gemini-/i;
/** They hear, speak, draw or sort. */
const withoutTools =
  /embed|bge-|^m3e|tts|whisper|transcribe|rerank|moderation|^(dall-e|gpt-image|imagen|mj_|suno|text-|ada|babbage|curie|davinci)/i;

/** What a price list names beside a model: tools that its maker sells by the piece. A request is judged by its wire. */
export function toolsSoldWith(model: string): readonly ToolCalls[] {
  if (withoutTools.test(model)) return [];
  if (ofGoogle.test(model)) return soldBy.google;
  return factsOf(model).isClaude ? soldBy.anthropic : soldBy.openAi;
}
