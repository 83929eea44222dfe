import { maxContext } from '../../../domain/call/model-limits.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { readByTool } from '../../metering/media-tokens.js';
import { type PromptEstimate, PromptTally } from '../../metering/prompt-tally.js';
import { toolsOffered } from '../../metering/tool-calls.js';

/* What a Messages request counts, and what its caller's words are. */

const perMessage = 2;
const perTool = 3;

/** As the tally knows pictures and files. */
function mediaPart({ type, source }: JsonObject): JsonObject | null {
  if (!isObject(source)) return null;
  const given = textIn(source.data) ?? textIn(source.url) ?? '';
  if (type === 'image') return { type: 'image_url', image_url: { url: given } };
  if (source.type === 'text' || source.type === 'content') return null;
  return {
    type: 'file',
    file: { file_data: given, ...(textIn(source.file_id) !== null && { file_id: source.file_id }) },
  };
}

function tallyBlock(tally: PromptTally, block: JsonValue): void {
  if (!isObject(block)) return;
  tally.cached(block.cache_control);
  switch (block.type) {
    case 'text':
      tally.text(block.text);
      return;
    case 'tool_use':
      tally.text(block.name);
      tally.text(block.input);
      return;
    case 'tool_result':
      tallyContent(tally, block.content);
      return;
    case 'thinking':
    case 'redacted_thinking':
      // Earlier thinking is shown to a model once, and then no more; the bytes sent bound it in any case.
      return;
    case 'image':
    case 'document': {
      const part = mediaPart(block);
      if (part !== null) tally.part(part);
      else if (isObject(block.source)) {
        tally.text(block.source.data);
        tallyContent(tally, block.source.content);
      }
      return;
    }
    default:
      tally.text(block);
  }
}

function tallyContent(tally: PromptTally, content: JsonValue | undefined): void {
  if (isList(content)) for (const block of content) tallyBlock(tally, block);
  else tally.text(content);
}

/** Anthropic's own tools that its caller carries out, or that find nothing but what was sent: they add their description. */
const carriedOutElsewhere = /^(bash|text_editor|computer|browser|memory|tool_search)/;

const isOwn = ({ type }: JsonObject): boolean => (type ?? 'custom') !== 'custom';

/** What runs at Anthropic, or is kept there, comes into the prompt, and none of that can be counted here. */
function tallyBrought(tally: PromptTally, tools: readonly JsonObject[], body: JsonObject): void {
  const { mcp_servers: servers, container, thread } = body;
  for (const tool of tools)
    if (isOwn(tool) && !carriedOutElsewhere.test(textIn(tool.type) ?? '')) tally.count(readByTool);
  if (isList(servers)) for (const _ of servers) tally.count(readByTool);
  for (const kept of [container, thread]) if ((kept ?? null) !== null) tally.count(readByTool);
}

/** Of a body of so many bytes. */
export function promptOf(body: JsonObject, bytes: number, model: string, names: ReadonlySet<string>): PromptEstimate {
  const tally = new PromptTally(model, names);
  tally.cached(body.cache_control);
  tallyContent(tally, body.system);
  for (const { role, content } of objectsIn(body.messages)) {
    tally.fixed += perMessage;
    tally.text(role);
    tallyContent(tally, content);
  }
  for (const tool of objectsIn(body.tools)) {
    tally.fixed += perTool;
    tally.cached(tool.cache_control);
    tally.text(tool.name);
    tally.text(tool.description);
    tally.text(tool.input_schema);
  }
  const offered = toolsOffered(body);
  tallyBrought(tally, offered, body);
  const estimate = tally.total(bytes);
  return estimate.brings || offered.some(isOwn)
    ? { ...estimate, max: { ...estimate.max, input: maxContext } }
    : estimate;
}

/** Of blocks of any type: what they say, what is in them, and the words of documents. */
const textsIn = (content: JsonValue | undefined): string[] => {
  if (typeof content === 'string') return [content];
  return objectsIn(content).flatMap(({ text, content: inner, source, title, context }) => {
    const { type, data, content: within } = isObject(source) ? source : {};
    const said = [text, title, context, type === 'text' ? data : null].flatMap((one) => textIn(one) ?? []);
    return [...said, ...textsIn(inner), ...textsIn(within)];
  });
};

/** Every text that the word filter looks at. */
export const promptTexts = ({ system, messages }: JsonObject): string[] => [
  ...textsIn(system),
  ...objectsIn(messages).flatMap(({ content }) => textsIn(content)),
];
