import { noUsage } from '../../../../domain/call/usage.js';
import { type JsonObject, textIn } from '../../../json/json.js';
import { writeResponsesUsage } from '../../../protocols/openai/responses-usage.js';
import { endedResponse, responseHead } from '../responses-in-chat/response-object.js';

/** A response that has generated nothing, and whose request the connection remembers. */
export function warmedUpResponse(request: JsonObject, callId: string): JsonObject & { readonly id: string } {
  const model = textIn(request.model) ?? '';
  const head = responseHead({ body: request }, { callId, createdAt: Math.floor(Date.now() / 1000), model });
  const usage = writeResponsesUsage(noUsage);
  return { ...endedResponse({ ...head, model }, null, { output: [], usage }), id: `resp_${callId}` };
}
