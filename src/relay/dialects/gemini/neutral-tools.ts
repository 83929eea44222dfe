import type { ToolWords } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import {
  isList,
  isObject,
  type JsonObject,
  type JsonValue,
  memberNamesIn,
  objectsIn,
  textIn,
} from '../../json/json.js';
import { memberIn, objectIn } from '../../protocols/gemini/names.js';
import { carriedMembers, notCarried, refuseUnlisted } from './across.js';
import { jsonSchemaOf } from './json-schema-of.js';

/* What a model may call, in neutral words. */

const declarationOf = (declared: JsonObject): JsonObject => {
  const { behavior = null, ...rest } = declared;
  refuseUnlisted(rest, carriedMembers.declaration, 'functionDeclarations.');
  // Only an open session can go on before there is a result.
  if (behavior !== null && behavior !== 'BLOCKING' && behavior !== 'UNSPECIFIED')
    throw notCarried('functionDeclarations.behavior', 'must be BLOCKING for this provider');
  const given = memberIn(declared, 'parametersJsonSchema') ?? objectIn(declared, 'parameters');
  const parameters =
    memberIn(declared, 'parametersJsonSchema') === undefined && isObject(given) ? jsonSchemaOf(given) : given;
  return {
    type: 'function',
    function: { name: declared.name, description: declared.description, parameters: parameters ?? undefined },
  };
};

const modes: ReadonlyMap<unknown, string> = new Map([
  ['AUTO', 'auto'],
  ['VALIDATED', 'auto'],
  ['ANY', 'required'],
  ['NONE', 'none'],
]);

/** Tools of the provider's own are nobody else's. Throws NotConvertible. */
function functionsIn(tool: JsonObject, at: number): JsonObject[] {
  const declared = memberIn(tool, 'functionDeclarations');
  const foreign = memberNamesIn(tool).find((name) => !/^function_?declarations$/i.test(name));
  if (foreign !== undefined)
    throw new NotConvertible('caller', `tools[${at}].${foreign.slice(0, 100)} is a tool that only Gemini has`);
  return objectsIn(declared);
}

/** Throws NotConvertible. */
export function neutralTools(body: JsonObject): ToolWords {
  const functions = objectsIn(body.tools).flatMap(functionsIn);
  if (functions.length === 0) return {};
  const config = objectIn(body, 'toolConfig') ?? {};
  const calling = objectIn(config, 'functionCallingConfig') ?? {};
  refuseUnlisted(config, carriedMembers.toolConfig, 'toolConfig.');
  refuseUnlisted(calling, carriedMembers.calling, 'toolConfig.functionCallingConfig.');
  const listed = memberIn(calling, 'allowedFunctionNames');
  const allowed: readonly JsonValue[] = isList(listed) ? listed.filter((name) => name !== null) : [];
  const mode = modes.get(calling.mode);
  const offered = allowed.length === 0 ? functions : functions.filter(({ name }) => allowed.includes(name ?? null));
  const [only] = allowed;
  const named = mode === 'required' && allowed.length === 1 && textIn(only) !== null;
  return {
    tools: offered.map(declarationOf),
    ...(mode !== undefined && { tool_choice: named ? { type: 'function', function: { name: only } } : mode }),
  };
}
