import {
  openAiToolCharge,
  openAiToolTypes,
  ownFunction,
  searchingFunction,
} from '../../../domain/pricing/provider-tools.js';
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
import { unpricedTool, unpricedToolMember } from '../../protocols/gemini/own-tools.js';

/* Tools that a provider runs by itself, as OpenAI's dialect asks for them: those in the list of tools, and no others. */

const maxShown = 100;

const clientsTypes: ReadonlySet<string> = new Set(['function', 'custom']);
const allowed = ['function', 'custom', ...openAiToolTypes].join(', ');

const unpriced = (param: string, type: string): InvalidMember => ({
  param,
  message: `${param}: ${type.slice(0, maxShown)} has no price here; allowed are ${allowed}`,
});

/** Of no type: a function in one of its older shapes, or a tool of Google's by the name of its member. */
function untyped(tool: JsonObject, path: string): InvalidMember | null {
  if (isObject(tool.function) || isObject(tool.custom) || textIn(tool.name) !== null) return null;
  const name = unpricedToolMember(tool);
  return name === null ? null : unpriced(`${path}.${name.slice(0, maxShown)}`, name);
}

function wrongTool(tool: JsonObject, path: string): InvalidMember | null {
  const google = unpricedTool(tool);
  if (google !== null) return { param: `${path}.${google}`, message: `${path}.${google} has no price here` };
  const { type } = tool;
  if ((type ?? null) === null) return untyped(tool, path);
  if (typeof type !== 'string') return { param: `${path}.type`, message: `${path}.type must be a string` };
  if (clientsTypes.has(type)) return null;
  if (type === ownFunction) {
    const name = textIn(isObject(tool.function) ? tool.function.name : null) ?? '';
    return name === searchingFunction ? null : unpriced(`${path}.function.name`, name);
  }
  return openAiToolCharge(type) === undefined ? unpriced(`${path}.type`, type) : null;
}

/** Of OpenRouter's, the only one that costs nothing. */
const freePlugin = 'response-healing';

function wrongPlugins(plugins: JsonValue | undefined, path: string): InvalidMember | null {
  if ((plugins ?? null) === null) return null;
  const param = `${path}plugins`;
  if (!isList(plugins)) return { param, message: `${param} must be a list of objects` };
  for (const [at, plugin] of plugins.entries()) {
    const id = isObject(plugin) ? textIn(plugin.id) : null;
    if (id !== freePlugin)
      return {
        param: `${param}[${at}].id`,
        message: `${param}[${at}].id: ${(id ?? 'a plugin').slice(0, maxShown)} has no price here; allowed is ${freePlugin}`,
      };
  }
  return null;
}

const deepest = 4;

/** The first tool or plugin without a price; null: there is none. `path`: with a dot at its end, or empty. */
export function wrongOwnTools(body: JsonObject, path = '', depth = 0): InvalidMember | null {
  for (const [at, tool] of objectsIn(body.tools).entries()) {
    const wrong = wrongTool(tool, `${path}tools[${at}]`);
    if (wrong !== null) return wrong;
  }
  const plugins = wrongPlugins(body.plugins, path);
  if (plugins !== null || depth === deepest) return plugins;
  for (const name of memberNamesIn(body)) {
    const held = name === 'extra_body' || name === 'google' ? body[name] : null;
    const wrong = isObject(held) ? wrongOwnTools(held, `${path}${name}.`, depth + 1) : null;
    if (wrong !== null) return wrong;
  }
  return null;
}
