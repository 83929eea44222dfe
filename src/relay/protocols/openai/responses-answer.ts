import type { Answer, AnswerInput } from '../../contracts/protocol.js';
import { reportedTier } from '../../contracts/service-tier.js';
import { isList, isObject, type JsonObject } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { errorOfStatus, unreadableAnswer } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { noAnswer } from '../says-something.js';
import { openAiFailureIn, openAiFailureOf } from './failure.js';
import { ResponseWords, responseFinish } from './response-words.js';
import { readResponsesUsage } from './responses-usage.js';
import { unreportedUsage } from './unreported-usage.js';
import type { OpenAiVariant } from './variant.js';

/* A complete answer of the Responses interface, carried as it came. */

const unfinished: ReadonlySet<unknown> = new Set(['queued', 'in_progress']);

/** Usage alone is none of a response that has failed. */
const failed = ({ status, error }: JsonObject): boolean =>
  status === 'failed' || (isObject(error) && status === undefined);

export function responsesAnswer(
  variant: OpenAiVariant,
  { provider, channel, caller, status, body: received, info }: AnswerInput,
): Answer {
  const confidential = confidentialOf(provider, channel);
  if (status < 200 || status > 299) return { ok: false, error: errorOfStatus(status, received, confidential) };
  const body = upstreamJson(received);
  if (!isObject(body))
    return { ok: false, error: unreadableAnswer('the upstream answered something that is not JSON') };
  const reported = isObject(body.usage)
    ? readResponsesUsage(body.usage, unreportedUsage(caller, channel, info.model))
    : null;
  if (failed(body)) return { ok: false, error: openAiFailureOf(body, confidential), costUnknown: reported !== null };
  const error = openAiFailureIn(variant, body, confidential);
  if (error !== null) return { ok: false, error, costUnknown: reported !== null };
  if (unfinished.has(body.status))
    return {
      ok: false,
      error: unreadableAnswer('the upstream answers later, in the background, which was not asked for'),
      costUnknown: true,
    };
  const { output } = body;
  if (!isList(output))
    return {
      ok: false,
      error: unreadableAnswer('the upstream answered without an answer in it'),
      costUnknown: reported !== null,
    };
  const generated = new ResponseWords(caller.body.store !== false);
  generated.finishReason = responseFinish(body);
  if (output.length === 0 && generated.finishReason === null) return noAnswer(reported);
  generated.finishReason ??= 'stop';
  generated.serviceTier = reportedTier(body.service_tier);
  generated.response(body);
  const usage = reported === null ? null : { ...reported, ...generated.searches };
  return { ok: true, own: true, body, received, untouched: true, usage, generated };
}
