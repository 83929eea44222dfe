import type { Answer, AnswerInput } from '../../contracts/protocol.js';
import { reportedTier } from '../../contracts/service-tier.js';
import { isObject, type JsonObject, objectsIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { errorOfStatus, reportedFailure, unreadableAnswer } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { failedChoice } from '../failed-finish.js';
import { choiceSays, hasVectors, noAnswer } from '../says-something.js';
import { openAiFailureIn, openAiFailureOf } from './failure.js';
import { Generation, mendChoice, messageIn } from './reply.js';
import { unreportedUsage } from './unreported-usage.js';
import { readOpenAiUsage } from './usage.js';
import type { OpenAiVariant, Reading } from './variant.js';

/* A complete answer of the OpenAI family. */

const byteOrderMark = Buffer.from('\ufeff');

/** JSON begins with its first bracket; a mark before it is nobody's. */
const withoutMark = (body: Buffer): Buffer =>
  byteOrderMark.equals(body.subarray(0, byteOrderMark.length)) ? body.subarray(byteOrderMark.length) : body;

/** Mends the choices in place and notes what was produced; true when something was changed. */
function mendChoices(variant: OpenAiVariant, body: JsonObject, reading: Reading, generated: Generation): boolean {
  let changed = false;
  for (const choice of objectsIn(body.choices)) {
    const message = messageIn(choice);
    if (mendChoice(variant, choice, message, reading)) changed = true;
    generated.note(choice, message);
  }
  return changed;
}

export function openAiAnswer(
  variant: OpenAiVariant,
  { provider, channel, caller, status, body: bytes, info }: AnswerInput,
): Answer {
  const { mode } = caller;
  const confidential = confidentialOf(provider, channel);
  const received = withoutMark(bytes);
  if (status < 200 || status > 299) return { ok: false, error: errorOfStatus(status, received, confidential) };
  const reported = upstreamJson(received);
  if (!isObject(reported))
    return { ok: false, error: unreadableAnswer('the upstream answered something that is not JSON') };
  const error = openAiFailureIn(variant, reported, confidential);
  if (error) return { ok: false, error };

  const reading: Reading = { mode, info, streamed: false, toolCalls: 0, finished: false, said: false };
  const translate = variant.translator?.() ?? variant.translate;
  const body = translate ? translate(reported, reading) : reported;
  if (body === null || !Array.isArray(mode === 'embeddings' ? body.data : body.choices)) {
    const says = reportedFailure(reported).message;
    const missing = unreadableAnswer('the upstream answered without an answer in it');
    return { ok: false, error: says === null ? missing : openAiFailureOf(reported, confidential) };
  }

  const unreported = unreportedUsage(caller, channel, info.model);
  const usage = isObject(body.usage)
    ? readOpenAiUsage(body.usage, variant.reasoningIsSeparate ?? false, unreported)
    : null;
  const failed = failedChoice(body.choices, confidential);
  if (failed !== null) return { ok: false, error: failed, costUnknown: true };
  const answers = mode === 'embeddings' ? hasVectors(body.data) : objectsIn(body.choices).some(choiceSays);
  if (!answers) return noAnswer(usage);

  const generated = new Generation(unreported.calls);
  generated.serviceTier = reportedTier(reported.service_tier);
  if (body !== reported) generated.keep('conversation', body.conversation_id);
  const changed = mendChoices(variant, body, reading, generated);
  return { ok: true, body, received, untouched: !changed && body === reported, usage, generated };
}
