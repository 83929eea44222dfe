import type { Answer, AnswerInput } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { errorOfStatus, reportedFailure, unreadableAnswer } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { openAiFailureIn, openAiFailureOf } from './failure.js';
import type { OpenAiVariant } from './variant.js';

/* The object that a whole answer of the OpenAI family says, before anything is looked for in it. */

const byteOrderMark = Buffer.from('\ufeff');

/** JSON begins with its first bracket; a mark before it is nobody's. */
const withoutMark = (body: Buffer): Buffer =>
  byteOrderMark.equals(body.subarray(0, byteOrderMark.length)) ? body.subarray(byteOrderMark.length) : body;

type Failed = Extract<Answer, { ok: false }>;
type Reported = { readonly ok: true; readonly received: Buffer; readonly reported: JsonObject };

/** `listAs`: by which name a list stands that is the whole answer. Left out: that is none. */
export function reportedBody(
  variant: OpenAiVariant,
  { provider, channel, status, body }: AnswerInput,
  listAs: string | null = null,
): Reported | Failed {
  const confidential = confidentialOf(provider, channel);
  const received = withoutMark(body);
  if (status < 200 || status > 299) return { ok: false, error: errorOfStatus(status, received, confidential) };
  const read: JsonValue | null = upstreamJson(received);
  const reported = isList(read) && listAs !== null ? { [listAs]: read } : read;
  if (!isObject(reported))
    return { ok: false, error: unreadableAnswer('the upstream answered something that is not JSON') };
  const error = openAiFailureIn(variant, reported, confidential);
  return error === null ? { ok: true, received, reported } : { ok: false, error };
}

/** There is no answer in what was reported: why it says so, where it does. */
export function missingAnswer(reported: JsonObject, { provider, channel }: AnswerInput): Failed {
  const missing = unreadableAnswer('the upstream answered without an answer in it');
  const says = reportedFailure(reported).message;
  return { ok: false, error: says === null ? missing : openAiFailureOf(reported, confidentialOf(provider, channel)) };
}
