import { factsOf } from '../../../domain/models/model-facts.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';

/*
 * Where Anthropic is to keep a prompt in its cache (`cache_control`). It keeps nothing by itself, and what it writes costs
 * more than plain input, so a prompt is marked only if another call is likely to read it.
 */

const kept: JsonObject = { cache_control: { type: 'ephemeral' } };

const isMarked = ({ cache_control: control }: JsonObject): boolean => (control ?? null) !== null;

/** Blocks stand in messages, and in results of tools there. */
const holdsMarks = (block: JsonObject): boolean =>
  isMarked(block) ||
  objectsIn(block.content).some((inner) => isMarked(inner) || objectsIn(inner.content).some(isMarked));

/** Its caller or an operator has said what is to be kept. */
const hasMarks = (body: JsonObject): boolean =>
  isMarked(body) || [body.tools, body.system, body.messages].some((list) => objectsIn(list).some(holdsMarks));

const isBlank = (text: JsonValue | undefined): boolean => (textIn(text) ?? '').trim() === '';

/** A request with a mark elsewhere is refused. */
const takesMark = (block: JsonValue): block is JsonObject =>
  isObject(block) &&
  block.type !== 'thinking' &&
  block.type !== 'redacted_thinking' &&
  block.defer_loading !== true &&
  !(block.type === 'text' && isBlank(block.text));

/** The same blocks or tools, the last that takes a mark marked; undefined: there is none. */
function endMarked(content: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (typeof content === 'string') return isBlank(content) ? undefined : [{ type: 'text', text: content, ...kept }];
  if (!isList(content)) return undefined;
  const at = content.findLastIndex(takesMark);
  return at < 0
    ? undefined
    : content.map((block, nth) => (nth === at && isObject(block) ? { ...block, ...kept } : block));
}

/** Messages whose end is marked: the newest of the user, for the next call, and the one before, where the last call wrote. */
const markedTurns = 2;

function turnsMarked(messages: readonly JsonValue[]): readonly JsonValue[] {
  const marked = [...messages];
  let left = markedTurns;
  for (let at = marked.length - 1; at >= 0 && left > 0; at--) {
    const message = marked[at];
    if (!isObject(message) || message.role !== 'user') continue;
    const content = endMarked(message.content);
    if (content !== undefined) marked[at] = { ...message, content };
    left--;
  }
  return marked;
}

const isExplicit = ({ prompt_cache_options: options }: JsonObject): boolean =>
  isObject(options) && options.mode === 'explicit';

/**
 * The body with at most four marks: the end of its tools, of its instructions, and of two turns of the user. The same
 * body where none helps: the prompt is too short, its caller has marked it, or nothing says that there will be another
 * call with its beginning. `given`: the request in neutral words.
 */
export function markedForCache(body: JsonObject, model: string, given: JsonObject, promptTokens: number): JsonObject {
  const { cachesFrom } = factsOf(model);
  if (cachesFrom === null || promptTokens < cachesFrom || isExplicit(given) || hasMarks(body)) return body;
  const { messages } = body;
  const talks = isList(messages) && objectsIn(messages).some(({ role }) => role === 'assistant');
  if (!talks && !textIn(given.prompt_cache_key)) return body;
  const tools = endMarked(body.tools);
  const system = endMarked(body.system);
  return {
    ...body,
    ...(tools !== undefined && { tools }),
    ...(system !== undefined && { system }),
    // A single question is read again by nobody; a conversation is, with the next turn.
    ...(talks && { messages: turnsMarked(messages) }),
  };
}
