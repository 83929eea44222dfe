import type { Usage } from '../../../domain/call/usage.js';
import type { WholeAnswer } from '../../contracts/answer-writer.js';
import type { CallerRequest, UpstreamChannel } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../json/json.js';
import { rewrittenBytes } from '../../protocols/carried.js';
import { messageIn } from '../../protocols/openai/reply.js';
import { withoutCost } from '../../protocols/openai/reported-cost.js';
import { correctedOpenAiUsage, writeOpenAiUsage } from '../../protocols/openai/usage.js';
import { withBase64Vectors } from './base64-vectors.js';
import { strictlyFormatted } from './strict-format.js';
import { thinkingIntoContent } from './thinking-stream.js';

/* A complete answer for OpenAI's clients: passed on byte for byte unless something in it must be changed. */

/** Changes the body in place; true when something was changed. */
function mended({ body, usage }: WholeAnswer, caller: CallerRequest, channel: UpstreamChannel): boolean {
  let changed = false;
  if (channel.thinkingToContent && caller.mode === 'chat')
    for (const choice of objectsIn(body.choices)) {
      const message = messageIn(choice);
      if (message === null) continue;
      thinkingIntoContent(message);
      changed = true;
    }
  if (isObject(body.usage)) {
    const corrected = usage === null ? withoutCost(body.usage) : correctedOpenAiUsage(body.usage, usage);
    if (corrected !== body.usage) changed = true;
    body.usage = corrected;
  }
  if (caller.mode === 'embeddings' && caller.body.encoding_format === 'base64')
    changed = withBase64Vectors(body) || changed;
  return changed;
}

export function openAiWholeAnswer(answer: WholeAnswer, caller: CallerRequest, channel: UpstreamChannel): Buffer {
  const changed = mended(answer, caller, channel);
  if (channel.forceFormat && caller.mode === 'chat') return written(strictlyFormatted(answer.body), answer.received);
  return answer.untouched && !changed ? answer.received : written(answer.body, answer.received);
}

/** Vectors are many numbers, and of them a double is enough. */
const written = (body: JsonObject, received: Buffer): Buffer =>
  Buffer.from(Array.isArray(body.data) ? jsonText(body) : rewrittenBytes(received, body));

/** Parses the answer once more: few answers come this way. */
export function withOpenAiUsage(bytes: Buffer, usage: Usage): Buffer {
  const answer = parseJson(bytes.toString('utf8'));
  if (!isObject(answer)) return bytes;
  const { seconds } = usage;
  if (seconds === undefined) return written({ ...answer, usage: writeOpenAiUsage(usage) }, bytes);
  // A transcript says how long the file is only where upstream has said it.
  if (!isObject(answer.usage) || answer.usage.seconds === seconds) return bytes;
  return written({ ...answer, usage: { type: 'duration', seconds } }, bytes);
}
