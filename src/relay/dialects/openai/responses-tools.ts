import { responsesToolCharge, responsesToolTypes } from '../../../domain/pricing/provider-tools.js';
import type { InvalidMember } from '../../contracts/caller-dialect.js';
import {
  isList,
  isObject,
  type JsonObject,
  type JsonValue,
  memberNamesIn,
  objectsIn,
  textIn,
} from '../../json/json.js';

/*
 * Tools of the Responses interface: its caller's, and those of the provider's own that have a price here. They stand in
 * the list of tools, in namespaces there, and in items of the input.
 */

const maxShownLength = 100;
const clientsTypes: ReadonlySet<string> = new Set(['function', 'custom']);
const namespace = 'namespace';
const allowed = [...clientsTypes, namespace, ...responsesToolTypes].join(', ');

/** The size of a container at the price of one; every larger one costs more. */
const pricedMemory = '1g';

function wrongContainer({ container }: JsonObject, path: string): InvalidMember | null {
  if ((container ?? null) === null) return null;
  const param = `${path}.container`;
  // By its id: whose it is is looked up.
  if (typeof container === 'string') return null;
  if (!isObject(container))
    return { param, message: `${param} must be { "type": "auto" }: callers share the provider's account` };
  const memory = container.memory_limit ?? null;
  return memory === null || memory === pricedMemory
    ? null
    : {
        param: `${param}.memory_limit`,
        message: `${param}.memory_limit must be ${pricedMemory}: others have no price here`,
      };
}

/** Commands are run by the caller, where nothing else is asked for. */
function wrongEnvironment({ environment }: JsonObject, path: string): InvalidMember | null {
  if ((environment ?? null) === null || (isObject(environment) && environment.type === 'local')) return null;
  const param = `${path}.environment`;
  return { param, message: `${param} must be { "type": "local" }: a container of the provider's has no price here` };
}

function wrongTool(tool: JsonObject, path: string, nested: boolean): InvalidMember | null {
  const param = `${path}.type`;
  const type = textIn(tool.type);
  if (type === null) return { param, message: `${param} is required: a text` };
  if (clientsTypes.has(type)) return null;
  if (type === namespace && !nested) return wrongList(tool.tools, `${path}.tools`, true);
  if (responsesToolCharge(type) === undefined)
    return { param, message: `${param}: ${type.slice(0, maxShownLength)} has no price here; allowed are ${allowed}` };
  if (type === 'code_interpreter') return wrongContainer(tool, path);
  return type === 'shell' ? wrongEnvironment(tool, path) : null;
}

function wrongList(tools: JsonValue | undefined, path: string, nested: boolean): InvalidMember | null {
  if ((tools ?? null) === null) return null;
  if (!isList(tools) || !tools.every(isObject)) return { param: path, message: `${path} must be a list of objects` };
  for (const [at, tool] of objectsIn(tools).entries()) {
    const wrong = wrongTool(tool, `${path}[${at}]`, nested);
    if (wrong !== null) return wrong;
  }
  return null;
}

/** Items that give the model tools. Others list what tools there were. */
const givesTools: ReadonlySet<string> = new Set(['additional_tools', 'tool_search_output']);

/** Members of chat, and of vendors, that switch a search on or bring more models: here no tool is asked for so. */
const elsewhere = [
  'web_search_options',
  'search_parameters',
  'enable_search',
  'web_search',
  'enable_enhancement',
  'plugins',
  'extra_body',
];

/** The first tool without a price; null: there is none. */
export function wrongResponsesTools(body: JsonObject): InvalidMember | null {
  const wrong = wrongList(body.tools, 'tools', false);
  if (wrong !== null) return wrong;
  const named = memberNamesIn(body).find((name) => elsewhere.includes(name));
  if (named !== undefined)
    return { param: named, message: `${named} is no member of this endpoint: ask for it in tools` };
  for (const [at, item] of (isList(body.input) ? body.input : []).entries()) {
    if (!isObject(item) || !givesTools.has(textIn(item.type) ?? '')) continue;
    const inside = wrongList(item.tools, `input[${at}].tools`, false);
    if (inside !== null) return inside;
  }
  return null;
}
