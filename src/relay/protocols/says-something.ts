import type { Usage } from '../../domain/call/usage.js';
import type { Answer } from '../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../json/json.js';
import { unreadableAnswer } from '../upstream/upstream-error.js';

/* Whether there is an answer in what an upstream sends: words, a call, a picture, a sound, or why it ended. */

/** Members that say what something is, and nothing of an answer. */
const framing: ReadonlySet<string> = new Set(['role', 'index', 'id', 'type', 'object', 'format', 'expires_at']);

/** False for a delta or a message that is empty, or names nothing but its role. */
export function saysSomething(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value !== '';
  if (isList(value)) return value.some(saysSomething);
  if (!isObject(value)) return false;
  for (const [name, member] of Object.entries(value)) if (!framing.has(name) && saysSomething(member)) return true;
  return false;
}

/** One choice in neutral words, of a whole answer or of a stream. */
export const choiceSays = ({ delta, message, text, finish_reason: reason }: JsonObject): boolean =>
  textIn(reason) !== null || textIn(text) !== null || saysSomething(delta) || saysSomething(message);

/** A list of vectors in OpenAI's form. */
export const hasVectors = (data: JsonValue | undefined): boolean =>
  objectsIn(data).some(
    ({ embedding }) => textIn(embedding) !== null || (isList(embedding) ? embedding.length > 0 : isObject(embedding)),
  );

/** An answer with nothing in it is none: another channel may have one. `usage`: reported with it. */
export const noAnswer = (usage: Usage | null): Extract<Answer, { ok: false }> => ({
  ok: false,
  error: unreadableAnswer('the upstream answered without an answer in it'),
  costUnknown: usage !== null,
});

/** Who draws seldom reports what that has cost, so nothing is known of it where no picture came. */
export const noPicture: Extract<Answer, { ok: false }> = { ...noAnswer(null), costUnknown: true };
