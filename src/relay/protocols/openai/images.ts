import { maxImages } from '../../contracts/image-request.js';
import type { Answer, AnswerInput } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, objectsIn, textIn } from '../../json/json.js';
import { bytesToParse } from '../../json/long-texts.js';
import { noPicture } from '../says-something.js';
import { readImageUsage } from './image-usage.js';
import { Generation } from './reply.js';
import { missingAnswer, reportedBody } from './reported-body.js';
import { withoutCost } from './reported-cost.js';
import type { OpenAiVariant } from './variant.js';

/* Pictures that were made or changed, in OpenAI's words and those of servers after it. */

/** There is a picture in it, or where one is. */
export const hasPicture = ({ b64_json, url }: JsonObject): boolean => textIn(b64_json) !== null || textIn(url) !== null;

const picturesIn = (data: unknown): JsonObject[] => objectsIn(data).filter(hasPicture).slice(0, maxImages);

export function pictured(): Generation {
  const generated = new Generation();
  generated.finishReason = 'stop';
  return generated;
}

export function imagesAnswer(variant: OpenAiVariant, answered: AnswerInput): Answer {
  const { caller, info, body: received } = answered;
  const got = reportedBody(variant, { ...answered, body: bytesToParse(received, caller.stream) });
  if (!got.ok) return got;
  const { reported } = got;
  const reading = { mode: caller.mode, info, streamed: false, toolCalls: 0, finished: false, said: false } as const;
  const translate = variant.translator?.() ?? variant.translate;
  const body = translate ? translate(reported, reading) : reported;
  if (body === null || !isList(body.data)) return missingAnswer(reported, answered);
  const pictures = picturesIn(body.data);
  const usage = readImageUsage(body.usage, pictures.length);
  if (pictures.length === 0) return noPicture;
  const generated = pictured();
  const shown = isObject(body.usage) ? withoutCost(body.usage) : body.usage;
  if (isObject(body.usage)) generated.upstreamCost = variant.cost?.(body.usage) ?? undefined;
  const complete =
    typeof body.created === 'number' && shown === body.usage
      ? body
      : { created: info.createdAt, ...body, ...(shown !== undefined && { usage: shown }) };
  return { ok: true, body: complete, received, untouched: complete === reported, usage, generated };
}
