import { hostedSearchesIn, isSearchBound, searchBoundOf } from '../../../contracts/hosted-search.js';
import type { ToolWords } from '../../../contracts/neutral-request.js';
import { NotConvertible } from '../../../contracts/protocol.js';
import { countIn, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../../json/json.js';
import { functionNameOf, type GivenTool, offeredTools, type ToolForm } from './tool-forms.js';

/* Tools of a response as functions, and the choice among them. */

const object = (properties: JsonObject, required: readonly string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const text: JsonObject = { type: 'string' };
const texts: JsonObject = { type: 'array', items: text };
const integer: JsonObject = { type: 'integer' };

interface Declared {
  readonly description?: string;
  readonly parameters: JsonObject;
}

/** What a free text is to be like, for a model that nothing holds to it. */
function customInput({ description, format }: JsonObject): Declared {
  const grammar =
    isObject(format) && textIn(format.definition) !== null
      ? ` It must match this ${textIn(format.syntax) ?? ''} grammar:\n${format.definition}`
      : '';
  const input = `\`input\` is free text.${grammar}`;
  return {
    description: [...(textIn(description) === null ? [] : [description]), input].join('\n\n'),
    parameters: object({ input: text }, ['input']),
  };
}

/** Of tools that have no description of their own. */
const ownDeclarations: Readonly<Record<'local_shell' | 'shell' | 'apply_patch', Declared>> = {
  local_shell: {
    description: 'Runs a program on the local machine: `command` is the program and its arguments.',
    parameters: object({ command: texts, working_directory: text, timeout_ms: integer }, ['command']),
  },
  shell: {
    description: 'Runs commands in a shell, one after the other.',
    parameters: object({ commands: texts, timeout_ms: integer, max_output_length: integer }, ['commands']),
  },
  apply_patch: {
    description:
      'Creates, updates or deletes a file. `diff` is in the V4A form: lines begin with a blank, + or -, parts with @@; a deletion has none.',
    parameters: object(
      { type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] }, path: text, diff: text },
      ['type', 'path'],
    ),
  },
};

const nothingAsked = object({}, []);

function declaredBy({ tool, form }: GivenTool): Declared {
  const { kind } = form;
  switch (kind) {
    case 'custom':
      return customInput(tool);
    case 'function':
    case 'tool_search': {
      const description = textIn(tool.description);
      const parameters = isObject(tool.parameters) ? tool.parameters : nothingAsked;
      return { ...(description !== null && { description }), parameters };
    }
    default:
      return ownDeclarations[kind];
  }
}

const functionOf = (name: string, given: GivenTool): JsonObject => ({
  type: 'function',
  function: {
    name,
    ...declaredBy(given),
    ...(given.form.kind === 'function' && typeof given.tool.strict === 'boolean' && { strict: given.tool.strict }),
  },
});

const withoutName: ReadonlySet<unknown> = new Set(['local_shell', 'shell', 'apply_patch', 'tool_search']);

/** The function that a choice names. Throws NotConvertible. */
function chosen({ type, name, namespace }: JsonObject, path: string): string {
  if (withoutName.has(type)) return String(type);
  if ((type !== 'function' && type !== 'custom') || textIn(name) === null)
    throw new NotConvertible(
      'caller',
      `${path}: this channel has chat alone; allowed are auto, none, required, or a tool of type function or custom by its name`,
    );
  const form: Pick<ToolForm, 'name' | 'namespace'> = {
    name: String(name),
    ...(textIn(namespace) !== null && { namespace: String(namespace) }),
  };
  return functionNameOf(form);
}

const namedChoice = (name: string): JsonObject => ({ type: 'function', function: { name } });

/** What may be called, of what is offered, and whether it must be. */
interface Choice {
  readonly choice: JsonValue;
  /** null: all. */
  readonly only: ReadonlySet<string> | null;
}

/** Throws NotConvertible. */
function choiceOf(given: JsonValue | undefined): Choice | null {
  if ((given ?? null) === null) return null;
  if (!isObject(given)) return { choice: given ?? null, only: null };
  if (given.type !== 'allowed_tools') return { choice: namedChoice(chosen(given, 'tool_choice')), only: null };
  const only = objectsIn(given.tools).map((one, at) => chosen(one, `tool_choice.tools[${at}]`));
  return { choice: given.mode === 'required' ? 'required' : 'auto', only: new Set(only) };
}

/** Searches that a provider is to run, with the bound of its calls. */
function searchesIn(body: JsonObject): JsonObject[] {
  const max = countIn(body.max_tool_calls);
  if (max === 0) return [];
  const { web_search_options: _, ...request } = body;
  return hostedSearchesIn(request).map((tool) => {
    // What is wrong with its own bound is found where it is put to a provider.
    const isWrong = (tool.max_uses ?? null) !== null && !isSearchBound(tool.max_uses);
    return max === null || isWrong ? tool : { ...tool, max_uses: Math.min(searchBoundOf(tool) ?? max, max) };
  });
}

/** Tools and the choice among them. Throws NotConvertible. */
export function toolWordsIn(body: JsonObject): ToolWords {
  const choice = choiceOf(body.tool_choice);
  const tools: JsonObject[] = [];
  for (const [name, given] of offeredTools(body))
    if (choice?.only?.has(name) !== false) tools.push(functionOf(name, given));
  if (choice === null || choice.only === null) tools.push(...searchesIn(body));
  if (tools.length === 0) return {};
  const { parallel_tool_calls: parallel } = body;
  return {
    tools,
    ...(choice !== null && { tool_choice: choice.choice }),
    ...(typeof parallel === 'boolean' && { parallel_tool_calls: parallel }),
  };
}
