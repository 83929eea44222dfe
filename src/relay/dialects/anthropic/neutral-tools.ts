import type { ToolWords } from '../../contracts/neutral-request.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, scalarText, textIn } from '../../json/json.js';
import { refused, refuseOthers, within } from './across.js';

/* What a model may call, in neutral words: the tools of the request, as its messages have changed them by their end. */

const blocksOf = (messages: JsonValue | undefined): { block: JsonObject; path: string }[] =>
  objectsIn(messages).flatMap(({ content }, at) =>
    objectsIn(content).map((block, number) => ({ block, path: `messages[${at}].content[${number}]` })),
  );

/** Tools on offer by their names, and those of them that are to be found first. */
class Offered {
  private readonly tools = new Map<JsonValue, JsonObject>();
  private readonly found = new Set<JsonValue>();
  private readonly removed = new Set<JsonValue>();

  constructor(
    tools: JsonValue | undefined,
    /** Nobody else can search: all are offered. */
    private readonly searched: boolean,
  ) {
    for (const [at, tool] of objectsIn(tools).entries()) this.define(tool, `tools[${at}].`);
  }

  /** Tools that Anthropic runs are left out: nobody else has them. */
  private define(tool: JsonObject, path: string): void {
    if ((tool.type ?? 'custom') !== 'custom') return;
    refuseOthers(tool, within.tool, path);
    const { name = null, allowed_callers: callers } = tool;
    // Code that runs at Anthropic is to call it, and nobody else.
    if (isList(callers) && callers.length > 0 && !callers.includes('direct'))
      throw refused(`${path}allowed_callers: at another provider there is none but direct`);
    this.tools.set(name, tool);
  }

  reference(name: JsonValue | undefined): void {
    this.found.add(name ?? null);
  }

  /** A block that adds a tool, or takes one away. */
  change({ type, tool }: JsonObject, path: string): void {
    const change = isObject(tool) ? tool : {};
    const { definition, name = null } = change;
    if (type === 'tool_addition' && isObject(definition)) {
      this.define(definition, `${path}.tool.definition.`);
      this.removed.delete(definition.name ?? null);
      this.found.add(definition.name ?? null);
      return;
    }
    if (change.type !== 'tool_reference') throw refused(`${path}.tool.type: another provider has no such tools`);
    this.found.delete(name);
    if (type === 'tool_removal') this.removed.add(name);
    else {
      this.removed.delete(name);
      this.found.add(name);
    }
  }

  /** Left out are those to be found later that nothing has found yet. */
  all(): JsonObject[] {
    return [...this.tools.values()].filter(
      ({ defer_loading: deferred, name = null }) =>
        !this.removed.has(name) && (deferred !== true || this.searched || this.found.has(name)),
    );
  }
}

/** A block by which a conversation adds a tool, or takes one away. */
export const isToolChange = ({ type }: JsonObject): boolean => type === 'tool_addition' || type === 'tool_removal';

function offeredBy({ tools, messages }: JsonObject): JsonObject[] {
  const searched = objectsIn(tools).some(({ type }) => (textIn(type) ?? '').startsWith('tool_search_tool'));
  const offered = new Offered(tools, searched);
  for (const { block, path } of blocksOf(messages)) {
    if (isToolChange(block)) offered.change(block, path);
    if (block.type === 'tool_result')
      for (const part of objectsIn(block.content))
        if (part.type === 'tool_reference') offered.reference(part.tool_name);
    if (block.type === 'compaction')
      for (const [at, change] of objectsIn(block.tool_changes).entries())
        offered.change(change, `${path}.tool_changes[${at}]`);
  }
  return offered.all();
}

/** Throws NotConvertible naming the tool. */
export const toolsAtEnd = (body: JsonObject): JsonObject[] =>
  offeredBy(body).map((tool) => ({
    type: 'function',
    function: {
      name: tool.name,
      ...(textIn(tool.description) !== null && { description: tool.description }),
      parameters: isObject(tool.input_schema) ? tool.input_schema : { type: 'object' },
    },
    ...(isObject(tool.cache_control) && { cache_control: tool.cache_control }),
  }));

const choices: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', none: 'none' };

/** Throws NotConvertible. */
export function choiceOf(choice: JsonValue | undefined): ToolWords {
  if (!isObject(choice)) return {};
  refuseOthers(choice, within.toolChoice, 'tool_choice.');
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  if (choice.type === 'tool')
    return { tool_choice: { type: 'function', function: { name: choice.name } }, ...parallel };
  const known = choices[scalarText(choice.type)];
  if (known === undefined) throw refused('tool_choice.type must be auto, any, none or tool');
  return { tool_choice: known, ...parallel };
}
