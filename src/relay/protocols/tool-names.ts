import { createHash } from 'node:crypto';
import type { ChatRequest, NeutralRequest } from '../contracts/neutral-request.js';
import { isObject, type JsonObject, objectsIn, scalarText, textIn } from '../json/json.js';
import { messageIn } from './openai/reply.js';

/*
 * Names of tools, fit for the neutral form and so for every wire: OpenAI's letters, digits, `_` and `-`, 64 at most. A
 * client gets its own names back.
 */

/** By the name that goes upstream: the client's own, where the two differ. */
export type RenamedTools = ReadonlyMap<string, string>;

const fitName = /^[\w-]{1,64}$/;
const keptLength = 47;

const fitted = (name: string): string =>
  `${name.replace(/[^\w-]/g, '_').slice(0, keptLength)}_${createHash('sha256').update(name).digest('base64url').slice(0, 16)}`;

/** The functions named anywhere in a request: objects with a `name` of their own. */
function* namedIn({ tools, tool_choice: choice, messages }: ChatRequest): Generator<JsonObject> {
  for (const { function: named } of objectsIn(tools)) if (isObject(named)) yield named;
  if (isObject(choice) && isObject(choice.function)) yield choice.function;
  for (const message of objectsIn(messages)) {
    for (const { function: called } of objectsIn(message.tool_calls)) if (isObject(called)) yield called;
    if (message.role === 'tool') yield message;
  }
}

/** Makes the names of tools fit, in place, and notes in `renamed` what they were. */
export function withFitToolNames(asked: NeutralRequest, renamed: Map<string, string>): NeutralRequest {
  if (asked.mode !== 'chat') return asked;
  for (const named of namedIn(asked.body)) {
    const own = textIn(named.name);
    if (own === null || fitName.test(own)) continue;
    const fit = fitted(own);
    renamed.set(fit, own);
    named.name = fit;
  }
  return asked;
}

/** Gives the calls of a chunk or a whole answer the client's names, in place. */
export function withOwnToolNames(answer: JsonObject, renamed: RenamedTools | undefined): JsonObject {
  if (renamed === undefined || renamed.size === 0) return answer;
  for (const choice of objectsIn(answer.choices))
    for (const { function: called } of objectsIn(messageIn(choice)?.tool_calls)) {
      const own = isObject(called) ? renamed.get(scalarText(called.name)) : undefined;
      if (isObject(called) && own !== undefined) called.name = own;
    }
  return answer;
}
