import { NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue } from '../../json/json.js';
import { geminiIn } from '../gemini/gemini.js';
import { objectIn, withMember } from '../gemini/names.js';
import type { GeminiAction, GeminiVariant } from '../gemini/variant.js';
import { pathSegment } from '../model-address.js';

/* Google's own models in its cloud: the wire of the public interface, but for a few members. */

/** Calls and their results have no ids here: their order says which is whose. */
function withoutIds(part: JsonValue): JsonValue {
  if (!isObject(part)) return part;
  for (const name of ['functionCall', 'functionResponse']) {
    const called = objectIn(part, name);
    if (called?.id === undefined) continue;
    const { id: _, ...rest } = called;
    return withMember(part, name, rest);
  }
  return part;
}

const plain = (content: JsonValue): JsonValue =>
  isObject(content) && isList(content.parts) ? { ...content, parts: content.parts.map(withoutIds) } : content;

function spoken(body: JsonObject): JsonObject {
  const { contents } = body;
  if (isList(contents)) return { ...body, contents: contents.map(plain) };
  return isObject(contents) ? { ...body, contents: plain(contents) } : body;
}

const shapes: Readonly<Record<GeminiAction, (body: JsonObject) => JsonObject>> = {
  generateContent: spoken,
  streamGenerateContent: spoken,
  /** A whole request to be counted is the body itself. */
  countTokens(body) {
    const { model: _, ...counted } = objectIn(body, 'generateContentRequest') ?? body;
    return spoken(counted);
  },
  /** The address names the model. */
  embedContent: ({ model: _, ...body }) => body,
  predict: (body) => body,
  batchEmbedContents() {
    throw new NotConvertible('caller', 'input: this model takes one text at a time here');
  },
};

const variant: GeminiVariant = {
  url: ({ base, model }) => `${base}/publishers/google/models/${pathSegment(model)}`,
  headers: () => ({}),
  reshape: (body, { action }) => shapes[action](body),
};

export const vertexGemini = geminiIn(variant);
