import type { Answer, AnswerInput } from '../../contracts/protocol.js';
import { reportedTier } from '../../contracts/service-tier.js';
import { isObject, type JsonObject, objectsIn } from '../../json/json.js';
import { reportedAnswerId } from '../answer-id.js';
import { confidentialOf } from '../confidential-of.js';
import { lacksVectors, vectorsAsked } from '../embeddings.js';
import { failedChoice } from '../failed-finish.js';
import { neutralAs } from '../request-builder.js';
import { choiceSays, hasVectors, noAnswer } from '../says-something.js';
import { countsCharacters } from './character-counts.js';
import { Generation, mendChoice, messageIn } from './reply.js';
import { missingAnswer, reportedBody } from './reported-body.js';
import { unreportedUsage } from './unreported-usage.js';
import { readOpenAiUsage } from './usage.js';
import { isOfOneAnswer, readsApart, readTogether } from './usage-per-answer.js';
import type { OpenAiVariant, Reading } from './variant.js';

/* A complete answer of the OpenAI family. */

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

export function openAiAnswer(variant: OpenAiVariant, answered: AnswerInput): Answer {
  const { provider, channel, caller, info } = answered;
  const { mode } = caller;
  const got = reportedBody(variant, answered);
  if (!got.ok) return got;
  const { received, reported } = got;

  const reading: Reading = { mode, info, streamed: false, toolCalls: 0, finished: false, said: false };
  const translate = variant.translator?.() ?? variant.translate;
  const body = translate ? translate(reported, reading) : reported;
  if (body === null || !Array.isArray(mode === 'embeddings' ? body.data : body.choices))
    return missingAnswer(reported, answered);

  const unreported = unreportedUsage(caller, channel, info.model);
  const said =
    isObject(body.usage) && !countsCharacters(body)
      ? readOpenAiUsage(body.usage, variant.reasoningIsSeparate ?? false, unreported)
      : null;
  const ofFirst = said !== null && objectsIn(body.choices).length > 1 && isOfOneAnswer(body);
  const usage = ofFirst ? readTogether(said, readsApart(caller)) : said;
  const failed = failedChoice(body.choices, confidentialOf(provider, channel));
  if (failed !== null) return { ok: false, error: failed, costUnknown: true };
  const answers = mode === 'embeddings' ? hasVectors(body.data) : objectsIn(body.choices).some(choiceSays);
  if (!answers) return noAnswer(usage);
  // OpenAI's own list says of each vector whose it is; others are numbered here.
  if (mode === 'embeddings' && body !== reported) {
    const asked = vectorsAsked(neutralAs(caller, 'embeddings'));
    if (asked !== null && objectsIn(body.data).length !== asked) return lacksVectors(usage !== null);
  }

  const generated = new Generation(unreported.calls);
  generated.inputOnly = ofFirst;
  generated.serviceTier = reportedTier(reported.service_tier);
  if (isObject(body.usage)) generated.upstreamCost = variant.cost?.(body.usage) ?? undefined;
  generated.answerId = reportedAnswerId(reported.id, info) ?? reportedAnswerId(body.id, info);
  if (body !== reported) generated.keep('conversation', body.conversation_id);
  const changed = mendChoices(variant, body, reading, generated);
  return { ok: true, body, received, untouched: !changed && body === reported, usage, generated };
}
