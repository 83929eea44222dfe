import { sealOf, toolCallSignature } from '../../contracts/neutral.js';
import { parseExactly } from '../../json/exact-json.js';
import { isObject, type JsonObject, objectsIn, textIn } from '../../json/json.js';

/* Pieces of a `GenerateContentResponse`, made of the neutral form. */

const finishReasons: ReadonlyMap<unknown, string> = new Map([
  ['stop', 'STOP'],
  ['tool_calls', 'STOP'],
  ['function_call', 'STOP'],
  ['length', 'MAX_TOKENS'],
  ['content_filter', 'SAFETY'],
]);

/** The wire's own word where it is one of Gemini's. */
export function finishReasonOf({ finish_reason: reason, native_finish_reason: native }: JsonObject): string {
  const own = textIn(native);
  return own !== null && /^[A-Z][A-Z_]{1,63}$/.test(own) ? own : (finishReasons.get(reason) ?? 'OTHER');
}

/** null: the arguments are no JSON object, and the call cannot be written. */
export function callPart(call: JsonObject): JsonObject | null {
  const { name, arguments: given } = isObject(call.function) ? call.function : {};
  const args = textIn(given) === null ? {} : parseExactly(String(given));
  if (!isObject(args)) return null;
  const signature = toolCallSignature(call);
  return {
    functionCall: { ...(textIn(call.id) !== null && { id: call.id }), name: textIn(name) ?? '', args },
    ...(signature !== null && { thoughtSignature: signature }),
  };
}

/** Thinking, with what lets its model be shown it again. */
function thoughtParts({ reasoning_details: details }: JsonObject, plain: string | null): JsonObject[] {
  const parts: JsonObject[] = [];
  let written = 0;
  for (const detail of objectsIn(details)) {
    const thoughtSignature = sealOf(detail);
    if (thoughtSignature === null) continue;
    const text = textIn(detail.text) ?? '';
    written += text.length;
    parts.push({ text, thought: true, thoughtSignature });
  }
  // A stream signs what it has sent before; a whole answer repeats it with the signature.
  return plain === null || written > 0 ? parts : [{ text: plain, thought: true }, ...parts];
}

/** What a message or a delta says, its calls left out. */
export function wordParts(message: JsonObject): JsonObject[] {
  const { content, reasoning_content, reasoning, refusal, audio } = message;
  const parts = thoughtParts(message, textIn(reasoning_content) ?? textIn(reasoning));
  for (const text of [textIn(content), textIn(refusal)]) if (text !== null) parts.push({ text });
  if (isObject(audio) && textIn(audio.data) !== null)
    parts.push({ inlineData: { mimeType: 'audio/pcm', data: audio.data } });
  return parts;
}

/** null: nothing is cited. */
export function groundingOf({ annotations }: JsonObject): JsonObject | null {
  const groundingChunks = objectsIn(annotations).flatMap(({ url_citation: cited }) =>
    isObject(cited) && textIn(cited.url) !== null
      ? [{ web: { uri: cited.url, title: textIn(cited.title) ?? '' } }]
      : [],
  );
  return groundingChunks.length > 0 ? { groundingChunks } : null;
}

export const contentOf = (parts: readonly JsonObject[]): JsonObject => ({ role: 'model', parts });
