import { googleToolCharge, googleToolNames } from '../../../domain/pricing/provider-tools.js';
import type { CallerRequest, UpstreamChannel } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, memberNamesIn, objectsIn } from '../../json/json.js';
import { camelOf } from './names.js';

/* Tools of Google's: those in the list of tools that have a price may be asked for, and no others. */

/** Those known to cost by the piece, for dialects in whose tools they may stand beside members of any name. */
const unpriced: ReadonlySet<string> = new Set([
  'enterpriseWebSearch',
  'exaAiSearch',
  'parallelAiSearch',
  'fileSearch',
  'retrieval',
  'mcpServers',
]);

const clientsOwn = 'functionDeclarations';
const allowed = [clientsOwn, ...googleToolNames].join(', ');

/** What some callers put beside any tool. */
const acceptedOnTools: ReadonlySet<string> = new Set(['cache_control', 'description']);

const without = (path: string, name: string) => ({
  param: `${path}.${name.slice(0, 100)}`,
  message: `${path}.${name.slice(0, 100)} has no price here; allowed are ${allowed}`,
});

/** Of a request in Gemini's own words. null: there is nothing to be said against it. */
export function wrongTools(tools: JsonValue | undefined): { readonly param: string; readonly message: string } | null {
  if ((tools ?? null) === null) return null;
  if (!isList(tools) || !tools.every(isObject)) return { param: 'tools', message: 'tools must be a list of objects' };
  for (const [at, tool] of tools.entries())
    for (const [name, value] of Object.entries(tool)) {
      if (value === null) continue;
      if (camelOf(name) !== clientsOwn && googleToolCharge(name) === undefined) return without(`tools[${at}]`, name);
      if (camelOf(name) === 'functionDeclarations' && !(isList(value) && value.every(isObject))) {
        const param = `tools[${at}].${name}`;
        return { param, message: `${param} must be a list of objects` };
      }
    }
  return null;
}

/** Of a tool in OpenAI's dialect, where other gateways take Google's by the names of their members. null: none. */
export function unpricedTool(tool: JsonObject): string | null {
  for (const name of memberNamesIn(tool)) if (unpriced.has(camelOf(name))) return name;
  return null;
}

/** Of a tool that is nothing but Google's: the first member that is in no list. null: there is none. */
export function unpricedToolMember(tool: JsonObject): string | null {
  for (const name of memberNamesIn(tool))
    if (!acceptedOnTools.has(name) && camelOf(name) !== clientsOwn && googleToolCharge(name) === undefined) return name;
  return null;
}

/** Whether Google's maps are all that a request has it search for. */
export function asksMapsAlone(
  { dialect, body }: Pick<CallerRequest, 'dialect' | 'body'>,
  { paramOverride }: Pick<UpstreamChannel, 'paramOverride'>,
): boolean {
  const own = dialect.wire === 'gemini' ? body.tools : undefined;
  const charges = [...objectsIn(own), ...objectsIn(paramOverride?.tools)].flatMap((tool) =>
    memberNamesIn(tool).flatMap((name) => googleToolCharge(name) ?? []),
  );
  return charges.length > 0 && charges.every((calls) => calls === 'calls:google_maps');
}
