import { anthropicReasoning } from '../../contracts/neutral.js';
import type {
  ChatMessage,
  ChatRequest,
  NeutralRequestOf,
  ThinkingWords,
  ToolWords,
} from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { carriedIn, memberOfThinking } from '../../protocols/anthropic/carried-members.js';
import { unwrappedCallId } from '../../protocols/tool-call-ids.js';

/* A Messages request in neutral words, for upstreams that speak otherwise. What they have no words for is refused by name. */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

const cached = ({ cache_control: control }: JsonObject): JsonObject =>
  isObject(control) ? { cache_control: control } : {};

const textPart = (block: JsonObject): JsonObject => ({
  type: 'text',
  text: textIn(block.text) ?? '',
  ...cached(block),
});

function imagePart(block: JsonObject, path: string): JsonObject {
  const { source } = block;
  if (!isObject(source)) throw refused(`${path}.source is required`);
  const { type, url, data, media_type: mediaType } = source;
  if (type === 'url') return { type: 'image_url', image_url: { url: textIn(url) ?? '' }, ...cached(block) };
  if (type !== 'base64') throw refused(`${path}.source.type: another provider takes base64 or url`);
  const inline = `data:${textIn(mediaType) ?? 'image/png'};base64,${textIn(data) ?? ''}`;
  return { type: 'image_url', image_url: { url: inline }, ...cached(block) };
}

function documentParts(block: JsonObject, path: string): JsonObject[] {
  const { source } = block;
  if (!isObject(source)) throw refused(`${path}.source is required`);
  const title = textIn(block.title);
  const filename = title === null ? {} : { filename: title };
  const { type, url, data, media_type: mediaType, content } = source;
  switch (type) {
    case 'base64': {
      const inline = `data:${textIn(mediaType) ?? 'application/pdf'};base64,${textIn(data) ?? ''}`;
      return [{ type: 'file', file: { filename: title ?? 'document.pdf', file_data: inline }, ...cached(block) }];
    }
    case 'url':
      return [{ type: 'file', file: { ...filename, file_url: textIn(url) ?? '' }, ...cached(block) }];
    case 'text':
      return [{ type: 'text', text: textIn(data) ?? '', ...cached(block) }];
    case 'content':
      return typeof content === 'string'
        ? [{ type: 'text', text: content }]
        : partsOf(content, `${path}.source.content`);
    default:
      throw refused(`${path}.source.type: another provider takes base64, url, text or content`);
  }
}

function searchResultParts(block: JsonObject, path: string): JsonObject[] {
  const head = [textIn(block.title), textIn(block.source)].filter((line) => line !== null).join('\n');
  return [{ type: 'text', text: head, ...cached(block) }, ...partsOf(block.content, `${path}.content`)];
}

function blockParts(block: JsonObject, path: string): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [textPart(block)];
    case 'image':
      return [imagePart(block, path)];
    case 'document':
      return documentParts(block, path);
    case 'tool_reference':
      return [{ type: 'text', text: textIn(block.tool_name) ?? '' }];
    case 'search_result':
      return searchResultParts(block, path);
    default:
      throw refused(`${path}.type: another provider does not take ${textIn(block.type) ?? 'this'}`);
  }
}

const partsOf = (content: JsonValue | undefined, path: string): JsonObject[] =>
  objectsIn(content).flatMap((block, at) => blockParts(block, `${path}[${at}]`));

/** A text where there is nothing but text, and nothing to be kept. */
const plainer = (parts: readonly JsonObject[], between: string): JsonValue =>
  parts.every(({ type, cache_control: control }) => type === 'text' && (control ?? null) === null)
    ? parts.map(({ text }) => text).join(between)
    : parts;

function resultOf(block: JsonObject, path: string): ChatMessage {
  const { content, tool_use_id: id, is_error: failed } = block;
  return {
    role: 'tool',
    tool_call_id: unwrappedCallId(textIn(id) ?? ''),
    content: typeof content === 'string' ? content : plainer(partsOf(content, `${path}.content`), '\n'),
    ...(failed === true && { is_error: true }),
  };
}

/** Results of tools go before what else the user says. */
function userMessages(content: JsonValue | undefined, path: string): ChatMessage[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const messages: ChatMessage[] = [];
  const parts: JsonObject[] = [];
  for (const [at, block] of objectsIn(content).entries())
    if (block.type === 'tool_result') messages.push(resultOf(block, `${path}[${at}]`));
    else parts.push(...blockParts(block, `${path}[${at}]`));
  if (parts.length > 0) messages.push({ role: 'user', content: plainer(parts, '\n') });
  return messages;
}

function detailOf(block: JsonObject): JsonObject[] {
  const { type, thinking, signature, data } = block;
  if (type === 'thinking' && memberOfThinking(block) === null)
    return [{ type: 'reasoning.text', text: textIn(thinking) ?? '', signature }];
  if (type !== 'redacted_thinking' || textIn(data) === null) return [];
  const carried = carriedIn(block);
  if (carried === null) return [{ type: 'reasoning.encrypted', data, format: anthropicReasoning }];
  return carried.detail === undefined ? [] : [carried.detail];
}

/** What the upstreams of calls said beside them, by the ids of the calls. */
function carriedByCall(blocks: readonly JsonObject[]): ReadonlyMap<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const block of blocks) {
    const carried = block.type === 'redacted_thinking' ? carriedIn(block) : null;
    if (carried?.call !== undefined && carried.extraContent !== undefined)
      found.set(carried.call, carried.extraContent);
  }
  return found;
}

/** Thinking under the name it came by. */
function thoughtIn(blocks: readonly JsonObject[]): Pick<ChatMessage, 'reasoning' | 'reasoning_content'> {
  const thinking = blocks.filter(({ type }) => type === 'thinking');
  const text = thinking.map((block) => textIn(block.thinking) ?? '').join('');
  if (text === '') return {};
  return thinking.some((block) => memberOfThinking(block) === 'reasoning')
    ? { reasoning: text }
    : { reasoning_content: text };
}

/** What Anthropic's own tools have done is left out: nobody else can go on from it. */
function assistantMessage(content: JsonValue | undefined): ChatMessage {
  if (typeof content === 'string') return { role: 'assistant', content };
  const blocks = objectsIn(content);
  const said = blocks.filter(({ type }) => type === 'text').map(textPart);
  const details = blocks.flatMap(detailOf);
  const carried = carriedByCall(blocks);
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id: shown, name, input }) => {
      const id = unwrappedCallId(textIn(shown) ?? '');
      const extra = carried.get(id);
      return {
        id,
        type: 'function',
        function: { name: textIn(name) ?? '', arguments: jsonText(isObject(input) ? input : {}) },
        ...(extra !== undefined && { extra_content: extra }),
      };
    });
  return {
    role: 'assistant',
    content: said.length === 0 && calls.length > 0 ? null : plainer(said, ''),
    ...thoughtIn(blocks),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function messagesOf({ system, messages }: JsonObject): ChatMessage[] {
  const instructed = typeof system === 'string' ? system : plainer(objectsIn(system).map(textPart), '\n');
  const turns = objectsIn(messages).flatMap(({ role, content }, at): ChatMessage[] => {
    switch (role) {
      case 'user':
        return userMessages(content, `messages[${at}].content`);
      case 'assistant':
        return [assistantMessage(content)];
      case 'system':
        return [
          { role, content: typeof content === 'string' ? content : plainer(objectsIn(content).map(textPart), '\n') },
        ];
      default:
        throw refused(`messages[${at}].role must be user or assistant`);
    }
  });
  return instructed === '' ? turns : [{ role: 'system', content: instructed }, ...turns];
}

/** Names of tools that results have brought up. */
function referencedIn(messages: JsonValue | undefined): ReadonlySet<JsonValue> {
  const names = new Set<JsonValue>();
  for (const { content } of objectsIn(messages))
    for (const block of objectsIn(content))
      for (const part of block.type === 'tool_result' ? objectsIn(block.content) : [])
        if (part.type === 'tool_reference') names.add(part.tool_name ?? null);
  return names;
}

/**
 * Tools that Anthropic runs are left out: nobody else has them. So are tools to be found later that nothing has found yet;
 * where Anthropic's own search was to find them, nobody else can, and all are offered.
 */
function toolsOf({ tools, messages }: JsonObject): JsonObject[] {
  const listed = objectsIn(tools);
  const searched = listed.some(({ type }) => (textIn(type) ?? '').startsWith('tool_search_tool'));
  const found = searched ? null : referencedIn(messages);
  return listed
    .filter(({ type }) => (type ?? 'custom') === 'custom')
    .filter(({ defer_loading: deferred, name }) => deferred !== true || found === null || found.has(name ?? null))
    .map((tool) => ({
      type: 'function',
      function: {
        name: tool.name,
        ...(textIn(tool.description) !== null && { description: tool.description }),
        parameters: isObject(tool.input_schema) ? tool.input_schema : { type: 'object' },
      },
      ...cached(tool),
    }));
}

const choices: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', none: 'none' };

function choiceOf(choice: JsonValue | undefined): ToolWords {
  if (!isObject(choice)) return {};
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  if (choice.type === 'tool')
    return { tool_choice: { type: 'function', function: { name: choice.name } }, ...parallel };
  const known = choices[String(choice.type)];
  return known === undefined ? parallel : { tool_choice: known, ...parallel };
}

/** The effort that a budget comes to. */
const effortOf = (budget: number): string => (budget <= 2_048 ? 'low' : budget <= 8_192 ? 'medium' : 'high');

/** What a body says of thinking. */
export function thinkingOf({ thinking, output_config: config }: JsonObject): ThinkingWords {
  const effort = textIn(isObject(config) ? config.effort : null);
  const byEffort = effort === null ? {} : { reasoning_effort: effort === 'max' ? 'high' : effort };
  if (!isObject(thinking)) return byEffort;
  if (thinking.type === 'disabled') return { thinking };
  const { budget_tokens: budget } = thinking;
  return { thinking, ...(typeof budget === 'number' && { reasoning_effort: effortOf(budget) }), ...byEffort };
}

const formatOf = ({
  output_config: config,
  output_format: earlier,
}: JsonObject): Pick<ChatRequest, 'response_format'> => {
  const format = isObject(config) && isObject(config.format) ? config.format : earlier;
  return isObject(format) && format.type === 'json_schema' && isObject(format.schema)
    ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema } } }
    : {};
};

/** Characters of `user` that every provider takes. */
const maxUserLength = 64;

const asTheyAre = [
  'model',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stream',
] as const satisfies readonly (keyof ChatRequest)[];

/** Throws NotConvertible. */
export function toNeutral(body: JsonObject): NeutralRequestOf<'chat'> {
  if (isList(body.mcp_servers) && body.mcp_servers.length > 0)
    throw refused('mcp_servers: another provider does not ask them');
  if (body.max_tokens === 0) throw refused('max_tokens: only Anthropic fills its cache without an answer');
  const kept: { [name in (typeof asTheyAre)[number]]?: JsonValue } = {};
  for (const name of asTheyAre) if ((body[name] ?? null) !== null) kept[name] = body[name];
  const stops = isList(body.stop_sequences) ? body.stop_sequences : [];
  const tools = toolsOf(body);
  const named = textIn(isObject(body.metadata) ? body.metadata.user_id : null);
  // Others refuse longer names, and such a one discloses more than they need.
  const user = named !== null && named.length <= maxUserLength ? named : null;
  const request: ChatRequest = {
    ...kept,
    messages: messagesOf(body),
    ...(stops.length > 0 && { stop: stops.length === 1 ? stops[0] : stops }),
    ...(tools.length > 0 && { tools, ...choiceOf(body.tool_choice) }),
    ...thinkingOf(body),
    ...formatOf(body),
    ...(user !== null && { user }),
  };
  return { mode: 'chat', body: request };
}
