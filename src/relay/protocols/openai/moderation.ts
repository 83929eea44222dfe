import { conversationsIn, judgementsOf } from '../../contracts/moderation-request.js';
import { type Answer, type AnswerInput, type CallerRequest, NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, objectsIn } from '../../json/json.js';
import { unreadableAnswer } from '../../upstream/upstream-error.js';
import { reportedAnswerId } from '../answer-id.js';
import { Generation } from './reply.js';
import { missingAnswer, reportedBody } from './reported-body.js';
import { readOpenAiUsage } from './usage.js';
import type { OpenAiVariant } from './variant.js';

/* Judgements of texts and pictures. OpenAI's say whether an input is flagged; others say it by their categories alone. */

/** Throws NotConvertible. */
export function refuseConversations({ judgesConversations }: OpenAiVariant, { mode, body }: CallerRequest): void {
  if (mode !== 'moderation' || judgesConversations === true || conversationsIn(body.input) === null) return;
  throw new NotConvertible('caller', 'input: this provider judges texts and pictures, and no conversations');
}

const isJudgement = ({ flagged, categories }: JsonObject): boolean =>
  typeof flagged === 'boolean' || isObject(categories);

const isFlagged = ({ categories }: JsonObject): boolean =>
  isObject(categories) && Object.values(categories).some((value) => value === true);

export function moderationAnswer(variant: OpenAiVariant, answered: AnswerInput): Answer {
  const got = reportedBody(variant, answered);
  if (!got.ok) return got;
  const { received, reported } = got;
  const { results } = reported;
  if (!isList(results)) return missingAnswer(reported, answered);
  const judgements = objectsIn(results);
  const expected = judgementsOf(answered.caller.body.input) ?? Math.max(judgements.length, 1);
  if (judgements.length !== results.length || judgements.length !== expected || !judgements.every(isJudgement))
    return { ok: false, error: unreadableAnswer('the upstream did not judge every input') };
  const usage = isObject(reported.usage) ? readOpenAiUsage(reported.usage, false) : null;
  const unsaid = judgements.some(({ flagged }) => typeof flagged !== 'boolean');
  const body = unsaid
    ? { ...reported, results: judgements.map((one) => ({ flagged: isFlagged(one), ...one })) }
    : reported;
  const generated = new Generation();
  generated.answerId = reportedAnswerId(reported.id, answered.info);
  return { ok: true, body, received, untouched: !unsaid, usage, generated };
}
