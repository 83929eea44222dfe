import { isHostedSearch, isOfferedAnyway } from '../../../contracts/hosted-search.js';
import { NotConvertible } from '../../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../../json/json.js';

/*
 * Tools of a response that its caller carries out, each of which is a function where there are none but functions: what
 * each is called there, and what it is.
 */

type ToolKind = 'function' | 'custom' | 'local_shell' | 'shell' | 'apply_patch' | 'tool_search';

export interface ToolForm {
  readonly kind: ToolKind;
  readonly name: string;
  /** Left out: it stands in none. */
  readonly namespace?: string;
}

/** A tool as it was given, and where. */
export interface GivenTool {
  readonly tool: JsonObject;
  readonly path: string;
  readonly form: ToolForm;
}

const withoutName: ReadonlySet<string> = new Set(['local_shell', 'shell', 'apply_patch', 'tool_search']);
const carriedAcross = ['function', 'custom', 'namespace', ...withoutName].join(', ');

const maxShown = 100;

/** Stands for a tool that is none of the caller's. */
const offeredAnyway: JsonObject = { type: 'web_search', external_web_access: false };

/** The function's name: that of the tool, behind the name of its namespace. */
export const functionNameOf = ({ name, namespace }: Pick<ToolForm, 'name' | 'namespace'>): string => {
  if (namespace === undefined) return name;
  return namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;
};

/** A search among tools that the provider runs: where there is none, all of them are offered. */
const isSearchOfProvider = ({ type, execution }: JsonObject): boolean =>
  type === 'tool_search' && execution !== 'client';

function formOf(tool: JsonObject, path: string, namespace: string | null): ToolForm {
  const type = textIn(tool.type) ?? 'function';
  const held = namespace === null ? {} : { namespace };
  if (withoutName.has(type)) return { kind: type as ToolKind, name: type, ...held };
  if (type !== 'function' && type !== 'custom')
    throw new NotConvertible(
      'caller',
      `${path}.type: ${type.slice(0, maxShown)} is run by providers that have the Responses interface, and this channel has chat alone; allowed here are ${carriedAcross}`,
    );
  const name = textIn(tool.name);
  if (name === null) throw new NotConvertible('caller', `${path}.name is required: a text`);
  return { kind: type, name, ...held };
}

function* toolsOf(list: unknown, path: string, namespace: string | null = null): Generator<GivenTool> {
  for (const [at, tool] of objectsIn(list).entries()) {
    const place = `${path}[${at}]`;
    if (tool.type === 'namespace' && namespace === null) {
      const name = textIn(tool.name);
      if (name === null) throw new NotConvertible('caller', `${place}.name is required: a text`);
      yield* toolsOf(tool.tools, `${place}.tools`, name);
    } else if (!isOfferedAnyway(tool) && !isSearchOfProvider(tool))
      yield { tool, path: place, form: formOf(tool, place, namespace) };
  }
}

/** Items that bring tools; those of the second kind bring what has been found. */
const bringsTools: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output']);

/** A search stays where it stood for whoever can be asked for it; places are those of the list as it came. */
const withoutSearches = (tools: JsonValue | undefined): JsonValue | undefined =>
  isList(tools) ? tools.map((tool) => (isObject(tool) && isHostedSearch(tool) ? offeredAnyway : tool)) : tools;

function* givenTools({ tools, input }: JsonObject): Generator<GivenTool & { readonly found: boolean }> {
  for (const given of toolsOf(withoutSearches(tools), 'tools')) yield { ...given, found: false };
  if (!Array.isArray(input)) return;
  for (const [at, item] of input.entries())
    if (isObject(item) && bringsTools.has(item.type))
      for (const given of toolsOf(item.tools, `input[${at}].tools`)) yield { ...given, found: true };
}

/**
 * The tools that a model may call, by the names of their functions. One to be found later is left out until it is, where
 * its caller does the finding. Throws NotConvertible.
 */
export function offeredTools(body: JsonObject): ReadonlyMap<string, GivenTool> {
  const searches = objectsIn(body.tools).some((tool) => tool.type === 'tool_search' && !isSearchOfProvider(tool));
  const offered = new Map<string, GivenTool>();
  for (const given of givenTools(body)) {
    if (searches && !given.found && given.tool.defer_loading === true) continue;
    const name = functionNameOf(given.form);
    const other = offered.get(name)?.form;
    if (other !== undefined && other.kind !== given.form.kind)
      throw new NotConvertible(
        'caller',
        `${given.path}: the name ${name.slice(0, maxShown)} is that of another tool too, of type ${other.kind}; at this channel both are functions: give them different names`,
      );
    offered.set(name, given);
  }
  return offered;
}

/** By the names of their functions, those tools that are anything else. Of a body whose tools can be carried. */
export function toolForms(body: JsonObject): ReadonlyMap<string, ToolForm> {
  const forms = new Map<string, ToolForm>();
  for (const [name, { form }] of offeredTools(body))
    if (form.kind !== 'function' || form.namespace !== undefined) forms.set(name, form);
  return forms;
}
