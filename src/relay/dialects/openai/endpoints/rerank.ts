import type { CallerDialect } from '../../../contracts/caller-dialect.js';
import type { DemandInput, Endpoint } from '../../../contracts/endpoint.js';
import { invalidRerank, textsOfDocuments } from '../../../contracts/rerank-request.js';
import { textIn } from '../../../json/json.js';
import { PromptTally } from '../../../metering/prompt-tally.js';
import { misspelled } from '../../spelling.js';
import { openAiCaller } from '../dialect.js';
import { rerankNames } from '../names.js';

/* Documents ranked by a query. Nothing is put out that is counted, and there is no stream. */

/** Around each document, models are told what to do with it. */
const tokensPerDocument = 128;
/** Of a longer document each part of so many tokens counts as one, with the query in it. */
const tokensPerPart = 500;
/** Around the query, where it is read once more: marks of a template. */
const tokensPerReading = 8;
/** Longer ones are cut off unless the request says otherwise. */
const usualMaxTokens = 4_096;
const documentsPerUnit = 100;

/** How the tokens of a document are taken: as they usually are, and so that there cannot be more parts. */
const usually = { bytesPerToken: 4, partTokens: tokensPerPart };
const atMost = { bytesPerToken: 1, partTokens: tokensPerPart / 2 };

/** Search units of documents, which are cut off after `longest` tokens. */
function searchUnits(texts: readonly string[], longest: number, { bytesPerToken, partTokens }: typeof usually): number {
  let parts = 0;
  for (const text of texts) {
    const tokens = Math.min(Buffer.byteLength(text) / bytesPerToken, longest);
    parts += Math.max(1, Math.ceil(tokens / partTokens));
  }
  return Math.ceil(parts / documentsPerUnit);
}

/** Vendors read the query once, or once with every document. */
function demand({ body, bytes, model, names }: DemandInput) {
  const tally = new PromptTally(model, names);
  const query = textIn(body.query) ?? '';
  const texts = textsOfDocuments(body);
  tally.text(query);
  for (const text of texts) tally.text(text);
  const { max_tokens_per_doc: named } = body;
  const longest = typeof named === 'number' ? Math.max(named, usualMaxTokens) : usualMaxTokens;
  const plain = tally.total(bytes);
  const again = texts.length * (Buffer.byteLength(query) + tokensPerDocument);
  const ofQuery = new PromptTally(model, names);
  ofQuery.text(query);
  const readings = texts.length * (ofQuery.total(Buffer.byteLength(query)).conservative.input + tokensPerReading);
  const conservative = Math.min(plain.conservative.input + readings, plain.max.input + again);
  const prompt = {
    ...plain,
    conservative: { ...plain.conservative, input: conservative, searchUnits: searchUnits(texts, longest, usually) },
    max: { ...plain.max, input: plain.max.input + again, searchUnits: searchUnits(texts, longest, atMost) },
  };
  return { prompt, answers: 0, asked: null, readApart: true, standsFor: 'searchUnits' } as const;
}

/** `dialect`: how its clients are answered. */
export const rerankEndpoint = (path: string, dialect: CallerDialect): Endpoint => ({
  path,
  dialect,
  body: 'json',
  mode: 'rerank',
  usualModel: null,
  answersAudio: false,
  thinking: null,
  toNeutral: null,
  invalid: invalidRerank,
  promptTexts: (body) => [textIn(body.query) ?? '', ...textsOfDocuments(body)],
  asksForAudio: () => false,
  asksForStream: () => false,
  asksForUsage: () => false,
  demand,
});

export const rerank = rerankEndpoint('/v1/rerank', {
  ...openAiCaller,
  misspelled: (body) => misspelled(body, rerankNames),
});
