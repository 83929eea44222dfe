import { isList, isObject, type JsonObject, type JsonValue, objectsIn } from '../json/json.js';

/*
 * Tools that a conversation of Anthropic's adds on its way, beside those of the request: a block of any message may hold
 * the definition of one, and so may what an earlier compaction has kept.
 */

export interface InlineTool {
  readonly tool: JsonObject;
  /** Where the definition stands. */
  readonly place: string;
}

const definitionIn = ({ type, tool }: JsonObject): JsonObject | null =>
  type === 'tool_addition' && isObject(tool) && isObject(tool.definition) ? tool.definition : null;

export function* inlineTools(messages: JsonValue | undefined): Generator<InlineTool> {
  if (!isList(messages)) return;
  for (const [at, message] of messages.entries()) {
    if (!isObject(message) || !isList(message.content)) continue;
    for (const [block, one] of message.content.entries())
      if (isObject(one)) yield* toolsOfBlock(one, `messages[${at}].content[${block}]`);
  }
}

function* toolsOfBlock(block: JsonObject, place: string): Generator<InlineTool> {
  const tool = definitionIn(block);
  if (tool !== null) yield { tool, place: `${place}.tool.definition` };
  if (block.type !== 'compaction') return;
  for (const [at, change] of objectsIn(block.tool_changes).entries()) {
    const kept = definitionIn(change);
    if (kept !== null) yield { tool: kept, place: `${place}.tool_changes[${at}].tool.definition` };
  }
}

/** The block with its definitions changed; the same block: there are none, or none was changed. */
function withinBlock(block: JsonValue, changed: (tool: JsonObject) => JsonObject): JsonValue {
  if (!isObject(block)) return block;
  const { tool, tool_changes: changes } = block;
  const definition = definitionIn(block);
  if (definition !== null && isObject(tool)) {
    const other = changed(definition);
    return other === definition ? block : { ...block, tool: { ...tool, definition: other } };
  }
  if (block.type !== 'compaction' || !isList(changes)) return block;
  const others = changes.map((change) => withinBlock(change, changed));
  return others.some((other, at) => other !== changes[at]) ? { ...block, tool_changes: others } : block;
}

/** A conversation with its definitions of tools changed. The same list: it has none, or none was changed. */
export function withInlineTools(
  messages: readonly JsonValue[],
  changed: (tool: JsonObject) => JsonObject,
): readonly JsonValue[] {
  if (inlineTools(messages as JsonValue[]).next().done) return messages;
  return messages.map((message) => {
    if (!isObject(message) || !isList(message.content)) return message;
    const { content } = message;
    const blocks = content.map((block) => withinBlock(block, changed));
    return blocks.some((block, at) => block !== content[at]) ? { ...message, content: blocks } : message;
  });
}
