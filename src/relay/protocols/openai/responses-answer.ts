import type { Answer, AnswerInput } from '../../contracts/protocol.js';
import { reportedTier } from '../../contracts/service-tier.js';
import { isList, isObject, type JsonObject } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { SeenText } from '../../text/seen-text.js';
import type { Confidential } from '../../upstream/confidential.js';
import { errorOfStatus, type UpstreamError, unreadableAnswer } from '../../upstream/upstream-error.js';
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

/** What goes on in the background; null: it has no id to be asked for by. */
function begunAnswer(body: JsonObject, received: Buffer): Answer | null {
  const generated = new ResponseWords(true);
  generated.runsOn = true;
  generated.response(body);
  if (generated.kept.length === 0) return null;
  return { ok: true, body, own: true, received, untouched: true, usage: null, generated };
}

/** What was deleted upstream is not found, as what never was. */
function refusal(status: number, received: Buffer, confidential: Confidential): UpstreamError {
  const error = errorOfStatus(status, received, confidential);
  return error.code === 'previous_response_not_found' ? { ...error, status: 404 } : error;
}

/** A count of tokens, which nobody pays for. */
const counted = (body: JsonObject, received: Buffer): Answer => {
  const generated = { said: new SeenText(), toolCalls: 0, finishReason: null };
  return { ok: true, body, own: true, received, untouched: true, usage: null, generated };
};

export function responsesAnswer(
  variant: OpenAiVariant,
  { provider, channel, caller, status, body: received, info }: AnswerInput,
): Answer {
  const confidential = confidentialOf(provider, channel);
  if (status < 200 || status > 299) return { ok: false, error: refusal(status, received, confidential) };
  const body = upstreamJson(received);
  if (!isObject(body))
    return { ok: false, error: unreadableAnswer('the upstream answered something that is not JSON') };
  const reported = isObject(body.usage)
    ? readResponsesUsage(body.usage, unreportedUsage(caller, channel, info.model))
    : null;
  if (failed(body)) return { ok: false, error: openAiFailureOf(body, confidential), costUnknown: reported !== null };
  const error = openAiFailureIn(variant, body, confidential);
  if (error !== null) return { ok: false, error, costUnknown: reported !== null };
  if (caller.below === 'input_tokens' && typeof body.input_tokens === 'number') return counted(body, received);
  if (unfinished.has(body.status) && caller.inBackground === true) {
    const begun = begunAnswer(body, received);
    if (begun !== null) return begun;
  }
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
  if (isObject(body.usage)) generated.upstreamCost = variant.cost?.(body.usage) ?? undefined;
  generated.response(body);
  const usage = reported === null ? null : { ...reported, ...generated.searches };
  return { ok: true, own: true, body, received, untouched: true, usage, generated };
}
