import type { Answer, AnswerInput } from '../../contracts/protocol.js';
import { textsOfDocuments } from '../../contracts/rerank-request.js';
import { isObject, textIn } from '../../json/json.js';
import { unreadableAnswer } from '../../upstream/upstream-error.js';
import { reportedAnswerId } from '../answer-id.js';
import { rankedDocuments, rerankUsage, resultsIn } from '../ranking.js';
import { noAnswer } from '../says-something.js';
import { countsCharacters } from './character-counts.js';
import { Generation } from './reply.js';
import { missingAnswer, reportedBody } from './reported-body.js';
import { writeOpenAiUsage } from './usage.js';
import type { Edit, OpenAiVariant } from './variant.js';

/* Documents ranked by servers of the OpenAI family, which all do it in nearly the same words. */

/** Many take no objects. */
export const documentsAsTexts: Edit = (body) =>
  Array.isArray(body.documents) && body.documents.some((document) => typeof document !== 'string')
    ? { ...body, documents: textsOfDocuments(body) }
    : body;

const readingOf = ({ caller, info }: AnswerInput) =>
  ({ mode: caller.mode, info, streamed: false, toolCalls: 0, finished: false, said: false }) as const;

export function rerankAnswer(variant: OpenAiVariant, answered: AnswerInput): Answer {
  const got = reportedBody(variant, answered, 'results');
  if (!got.ok) return got;
  const { received, reported } = got;
  const translate = variant.translator?.() ?? variant.translate;
  const translated = translate ? translate(reported, readingOf(answered)) : reported;
  const results = translated === null ? null : resultsIn(translated);
  if (translated === null || results === null) return missingAnswer(reported, answered);
  const usage = countsCharacters(translated) ? null : rerankUsage(translated);
  if (results.length === 0) return noAnswer(usage);
  const { caller, info } = answered;
  const ranked = rankedDocuments(results, caller.body);
  if (ranked === null) {
    const error = unreadableAnswer('the upstream ranked documents that it was not sent, or without a score');
    return { ok: false, error, costUnknown: usage !== null };
  }
  const body = {
    id: textIn(translated.id) ?? `rerank-${info.callId}`,
    object: 'list',
    model: info.model,
    results: ranked.map((one) => ({ ...one })),
    ...(usage !== null && { usage: writeOpenAiUsage(usage) }),
  };
  const generated = new Generation();
  if (isObject(reported.usage)) generated.upstreamCost = variant.cost?.(reported.usage) ?? undefined;
  generated.answerId = reportedAnswerId(translated.id, info);
  return { ok: true, body, received, untouched: false, usage, generated };
}
