import type { InvalidMember } from '../../../contracts/caller-dialect.js';
import type { Endpoint, InvalidRequest } from '../../../contracts/endpoint.js';
import { isList, isObject, type JsonObject, objectsIn } from '../../../json/json.js';
import { PromptTally } from '../../../metering/prompt-tally.js';
import { tallyContents, textsIn, wrongContent } from '../contents.js';
import { geminiCaller } from '../dialect.js';
import { neutralEmbedding } from '../to-neutral.js';

/* Texts as vectors, one or many at a time. */

/** An upstream takes no more at a time. */
const maxRequests = 2_048;

const contentsOf = (requests: readonly JsonObject[]): JsonObject[] =>
  requests.flatMap(({ content }) => (isObject(content) ? [content] : []));

const one = (request: unknown, name: string): InvalidMember | null =>
  isObject(request) && isObject(request.content)
    ? wrongContent(request.content, `${name}content`)
    : { param: `${name}content`, message: `${name}content must be an object with parts` };

/** One request or many: a body that names both is read as the one here, and may be as the other upstream. */
const unexpected = (body: JsonObject, name: string): InvalidMember | null =>
  (body[name] ?? null) === null ? null : { param: name, message: `${name} is not for this method` };

function many({ requests }: JsonObject): InvalidMember | null {
  if (!isList(requests) || requests.length === 0 || requests.length > maxRequests)
    return { param: 'requests', message: `requests must be a list of 1 to ${maxRequests} requests` };
  for (const [at, request] of requests.entries()) {
    const wrong = one(request, `requests[${at}].`);
    if (wrong !== null) return wrong;
  }
  return null;
}

const embedding = (
  action: string,
  requestsIn: (body: JsonObject) => JsonObject[],
  wrong: (body: JsonObject) => InvalidMember | null,
): Endpoint => ({
  path: `/v1beta/models/{model}:${action}`,
  dialect: geminiCaller,
  body: 'json',
  mode: 'embeddings',
  usualModel: null,
  answersAudio: false,
  thinking: null,
  toNeutral: neutralEmbedding,
  invalid(body): InvalidRequest | null {
    const complaint = wrong(body);
    return complaint === null ? null : { code: 'invalid_embedding_request', ...complaint };
  },
  promptTexts: (body) => textsIn(contentsOf(requestsIn(body))),
  asksForAudio: () => false,
  asksForStream: () => false,
  asksForUsage: () => false,
  demand({ body, bytes, model, names }) {
    const tally = new PromptTally(model, names);
    tallyContents(tally, contentsOf(requestsIn(body)));
    return { prompt: tally.total(bytes), answers: 0, asked: null, readApart: requestsIn(body).length > 1 };
  },
});

export const embedContent = embedding(
  'embedContent',
  (body) => [body],
  (body) => unexpected(body, 'requests') ?? one(body, ''),
);
export const batchEmbedContents = embedding(
  'batchEmbedContents',
  ({ requests }) => objectsIn(requests),
  (body) => unexpected(body, 'content') ?? many(body),
);
