import type { Usage } from '../../../domain/call/usage.js';
import type { WholeAnswer } from '../../contracts/answer-writer.js';
import type { CallerRequest } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import { isList, isObject, type JsonObject, objectsIn, parseJson, textIn } from '../../json/json.js';
import { rewrittenBytes } from '../../protocols/carried.js';
import { correctedGeminiUsage, isConsistentGeminiUsage, usageMetadata } from '../../protocols/gemini/usage.js';
import { messageIn } from '../../protocols/openai/reply.js';
import { callPart, contentOf, finishReasonOf, groundingOf, wordParts } from './response.js';

/* A complete answer for Gemini's clients: byte for byte where it is one of Gemini's. */

const written = (body: JsonObject): Buffer => Buffer.from(jsonText(body));

function candidateOf(choice: JsonObject): JsonObject {
  const message = messageIn(choice) ?? {};
  const calls = objectsIn(message.tool_calls).map(callPart);
  const callParts = calls.filter((part) => part !== null);
  const grounding = groundingOf(message);
  return {
    content: contentOf([...wordParts(message), ...callParts]),
    finishReason: callParts.length < calls.length ? 'MALFORMED_FUNCTION_CALL' : finishReasonOf(choice),
    index: choice.index ?? 0,
    ...(grounding !== null && { groundingMetadata: grounding }),
  };
}

/** One vector, or as many as were asked for. */
function embedded({ data }: JsonObject, { body }: CallerRequest): JsonObject {
  const embeddings = objectsIn(data).map(({ embedding }) => ({ values: embedding }));
  return isList(body.requests) ? { embeddings } : { embedding: embeddings[0] ?? { values: [] } };
}

export function geminiWholeAnswer({ body, own, received, usage }: WholeAnswer, caller: CallerRequest): Buffer {
  if (own) {
    const { usageMetadata: reported } = body;
    return usage === null || !isObject(reported) || isConsistentGeminiUsage(reported)
      ? received
      : withGeminiUsage(received, usage);
  }
  if (caller.mode === 'embeddings') return written(embedded(body, caller));
  return written({
    candidates: objectsIn(body.choices).map(candidateOf),
    ...(usage !== null && { usageMetadata: usageMetadata(usage) }),
    ...(textIn(body.model) !== null && { modelVersion: body.model }),
    ...(textIn(body.id) !== null && { responseId: body.id }),
  });
}

const unpriced = ['embedding', 'embeddings', 'predictions'];

/** Parses the answer once more: few answers come this way. Vectors and pictures have no place for what they cost. */
export function withGeminiUsage(bytes: Buffer, usage: Usage): Buffer {
  const answer = parseJson(bytes.toString('utf8'));
  if (!isObject(answer) || unpriced.some((name) => name in answer)) return bytes;
  const corrected = { ...answer, usageMetadata: correctedGeminiUsage(answer.usageMetadata, usage) };
  return Buffer.from(rewrittenBytes(bytes, corrected));
}
