import { anthropicReasoning } from '../../contracts/neutral.js';
import type { ChatMessage, ChatRequest, NeutralRequestOf } from '../../contracts/neutral-request.js';
import { jsonText } from '../../json/exact-number.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { carriedIn, memberOfThinking } from '../../protocols/anthropic/carried-members.js';
import { unwrappedCallId } from '../../protocols/tool-call-ids.js';
import { refused, refuseOthers, within } from './across.js';
import { formatOf, refuseUncarried, thinkingOf } from './neutral-generation.js';
import {
  blockParts,
  cached,
  instructionsIn,
  partsOfBlocks,
  plainer,
  refuseOthersIn,
  textPart,
} from './neutral-parts.js';
import { choiceOf, isToolChange, toolsAtEnd } from './neutral-tools.js';

/* A Messages request in neutral words, for upstreams that speak otherwise. What they have no words for is refused by name. */

function resultOf(block: JsonObject, path: string): ChatMessage {
  refuseOthersIn(block, path);
  const { content, tool_use_id: id, is_error: failed } = block;
  return {
    role: 'tool',
    tool_call_id: unwrappedCallId(textIn(id) ?? ''),
    content: typeof content === 'string' ? content : plainer(partsOfBlocks(content, `${path}.content`), '\n'),
    ...(failed === true && { is_error: true }),
    ...cached(block),
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
const doneAtAnthropic = /_tool_result$|^(server_tool_use|mcp_tool_use|mcp_tool_listing|fallback)$/;

/** What was said, and the summary of what was said before. Throws NotConvertible. */
function saidIn(block: JsonObject, path: string): JsonObject[] {
  refuseOthersIn(block, path);
  switch (block.type) {
    case 'text':
      return [textPart(block)];
    case 'compaction': {
      const summary = textIn(block.content);
      if (summary === null && textIn(block.encrypted_content) !== null)
        throw refused(`${path}.encrypted_content: only Anthropic can read it`);
      return summary === null ? [] : [{ type: 'text', text: summary, ...cached(block) }];
    }
    case 'thinking':
    case 'redacted_thinking':
    case 'tool_use':
      return [];
    default:
      if (isToolChange(block) || doneAtAnthropic.test(textIn(block.type) ?? '')) return [];
      throw refused(`${path}.type: in a turn of the assistant another provider does not take ${textIn(block.type)}`);
  }
}

function assistantMessage(content: JsonValue | undefined, path: string): ChatMessage {
  if (typeof content === 'string') return { role: 'assistant', content };
  const blocks = objectsIn(content);
  const said = blocks.flatMap((block, at) => saidIn(block, `${path}[${at}]`));
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

/** Instructions within the conversation; some hold for one turn of the user's and are not shown after it. */
function systemMessage(message: JsonObject, path: string, over: boolean): ChatMessage[] {
  refuseOthers(message, within.systemMessage, `${path}.`);
  if (isObject(message.output_config))
    refuseOthers(message.output_config, within.messageOutput, `${path}.output_config.`);
  const content = instructionsIn(message.content, `${path}.content`);
  return content === '' || (over && message.clear_at === 'next_user_message') ? [] : [{ role: 'system', content }];
}

function messagesOf({ system, messages }: JsonObject): ChatMessage[] {
  const instructed = instructionsIn(system, 'system');
  const listed = objectsIn(messages);
  const lastOfUser = listed.findLastIndex(({ role }) => role === 'user');
  const turns = listed.flatMap((message, at): ChatMessage[] => {
    const { role, content } = message;
    const path = `messages[${at}]`;
    if (role === 'system') return systemMessage(message, path, at < lastOfUser);
    refuseOthers(message, within.message, `${path}.`);
    if (role === 'user') return userMessages(content, `${path}.content`);
    if (role === 'assistant') return [assistantMessage(content, `${path}.content`)];
    throw refused(`${path}.role must be user, assistant or system`);
  });
  return instructed === '' ? turns : [{ role: 'system', content: instructed }, ...turns];
}

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
  refuseUncarried(body);
  const kept: { [name in (typeof asTheyAre)[number]]?: JsonValue } = {};
  for (const name of asTheyAre) if ((body[name] ?? null) !== null) kept[name] = body[name];
  const stops = isList(body.stop_sequences) ? body.stop_sequences : [];
  const tools = toolsAtEnd(body);
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
