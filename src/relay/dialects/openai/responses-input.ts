import { factsOf } from '../../../domain/models/model-facts.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { readByTool } from '../../metering/media-tokens.js';
import type { PromptTally } from '../../metering/prompt-tally.js';
import { toolsAsked, toolsOffered } from '../../metering/tool-calls.js';
import { inputTexts } from './input.js';

/* The prompt of a response: instructions, a text or a list of items, and the tools that it may use. */

const perTools = 8;
/** What only the provider can read is a part of the conversation, in fewer tokens than its bytes in base64. */
const bytesPerSealedToken = 5;

/** A text, or parts; one part may stand for a list of one. */
function tallyContent(tally: PromptTally, content: JsonValue | undefined): void {
  if (typeof content === 'string') tally.text(content);
  for (const part of isObject(content) ? [content] : objectsIn(content)) {
    tally.text(part.text ?? part.refusal);
    tally.cached(part.prompt_cache_breakpoint);
    tally.cached(part.cache_control);
    tally.part(part);
  }
}

/** Members of items of every kind in which their words stand. */
const wordy = [
  'role',
  'name',
  'arguments',
  'input',
  'code',
  'action',
  'operation',
  'queries',
  'results',
  'outputs',
  'error',
];

/** Results of tools are a text, or parts as those of a message; some are lists of what commands have put out. */
function tallyOutput(tally: PromptTally, { type, output }: JsonObject): void {
  if (type === 'shell_call_output' || type === 'mcp_call') tally.text(output);
  else tallyContent(tally, output);
}

function tallyItem(tally: PromptTally, item: JsonObject, perItem: number): void {
  tally.fixed += perItem;
  tally.cached(item.prompt_cache_breakpoint);
  for (const name of wordy) tally.text(item[name]);
  tallyContent(tally, item.content);
  tallyOutput(tally, item);
  for (const { text } of objectsIn(item.summary)) tally.text(text);
  const sealed = textIn(item.encrypted_content);
  if (sealed !== null) tally.fixed += Math.ceil(sealed.length / bytesPerSealedToken);
}

/** Tools of an upstream's own that find something, and those of servers that it asks, bring that into the prompt. */
function tallyTools(tally: PromptTally, body: JsonObject): void {
  const tools = toolsOffered(body);
  if (tools.length > 0) tally.fixed += perTools;
  for (const tool of tools) {
    tally.cached(tool.prompt_cache_breakpoint);
    if (tool.type === 'namespace') tally.text(tool.description);
    else tally.text(tool);
    if (tool.type === 'mcp') tally.count(readByTool);
  }
  for (let asked = toolsAsked(body); asked > 0; asked--) tally.count(readByTool);
}

export function tallyResponsesPrompt(tally: PromptTally, body: JsonObject): void {
  const perItem = factsOf(tally.model).messageTokens.message;
  tally.text(body.instructions);
  tally.cached(body.prompt_cache_options);
  if (typeof body.input === 'string') tally.text(body.input);
  else for (const item of objectsIn(body.input)) tallyItem(tally, item, perItem);
  if (isObject(body.text)) tally.text(body.text.format);
  tallyTools(tally, body);
}

const partTexts = (content: JsonValue | undefined): string[] => [
  ...inputTexts(content),
  ...(isObject(content) ? [content] : objectsIn(content)).flatMap(({ text, refusal }) => [
    ...inputTexts(text),
    ...inputTexts(refusal),
  ]),
];

/** Every text of it that the word filter looks at. */
export const responsesTexts = ({ instructions, input }: JsonObject): string[] => [
  ...inputTexts(instructions),
  ...(isList(input)
    ? objectsIn(input).flatMap((item) => [
        ...partTexts(item.content),
        ...partTexts(item.output),
        ...inputTexts(item.input),
      ])
    : inputTexts(input)),
];
