import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { instructionText } from '../instructions.js';
import type { Edit } from './variant.js';

/*
 * For upstreams that insist on user and assistant in turn, behind instructions at the beginning: turns of one role are put
 * together, and nothing that was said is left out.
 */

/** Stands where a user must speak first and has not. */
const nothing = '...';

const instructs = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer';

const partsOf = (content: JsonValue | undefined): JsonValue[] => {
  if (isList(content)) return [...content];
  return textIn(content) === null ? [] : [{ type: 'text', text: content }];
};

function joined(one: JsonValue | undefined, other: JsonValue | undefined): JsonValue {
  const texts = [one, other].map(textIn);
  if (!isList(one) && !isList(other)) return texts.filter((text) => text !== null).join('\n\n');
  return [...partsOf(one), ...partsOf(other)];
}

/** Instructions in the midst of a conversation are marked, and said by the user. */
function marked({ content, ...rest }: JsonObject): JsonObject {
  const words = isList(content)
    ? content.map((part) =>
        isObject(part) && typeof part.text === 'string' ? { ...part, text: instructionText(part.text) } : part,
      )
    : instructionText(textIn(content) ?? '');
  return { ...rest, role: 'user', content: words };
}

/** Results of tools are each of a call of its own. */
const joins = (last: JsonObject | undefined, { role }: JsonObject): last is JsonObject =>
  last?.role === role && (role === 'user' || role === 'assistant');

function together(last: JsonObject, said: JsonObject): JsonObject {
  const calls = [...objectsIn(last.tool_calls), ...objectsIn(said.tool_calls)];
  return { ...last, content: joined(last.content, said.content), ...(calls.length > 0 && { tool_calls: calls }) };
}

export const alternating: Edit = (body) => {
  if (!isList(body.messages)) return body;
  const turns: JsonObject[] = [];
  for (const message of objectsIn(body.messages)) {
    const begins = turns.every(instructs);
    if (instructs(message) && begins) {
      turns.push({ ...message, role: 'system' });
      continue;
    }
    const said = instructs(message) ? marked(message) : message;
    const last = turns.at(-1);
    if (begins && said.role === 'assistant') turns.push({ role: 'user', content: nothing });
    if (joins(last, said)) turns[turns.length - 1] = together(last, said);
    else turns.push(said);
  }
  return { ...body, messages: turns };
};
