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
/** A longer document counts as several, of as many tokens. */
const tokensPerPart = 500;
/** Bytes to a token: of text that says something, and at least. */
const usualBytes = 4;
const fewestBytes = 1;
const documentsPerUnit = 100;
/** Longer ones are cut off unless the request says otherwise. */
const usualMaxTokens = 4_096;

/** Search units, where a token has so many bytes. The query takes its share of each part, half of it at most. */
function searchUnits(texts: readonly string[], longest: number, bytesPerToken: number): number {
  const partBytes = (tokensPerPart * bytesPerToken) / (bytesPerToken === fewestBytes ? 2 : 1);
  const mostParts = Math.ceil((longest * usualBytes) / partBytes);
  let parts = 0;
  for (const text of texts) parts += Math.max(1, Math.min(Math.ceil(Buffer.byteLength(text) / partBytes), mostParts));
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
  const prompt = {
    ...plain,
    conservative: { ...plain.conservative, searchUnits: searchUnits(texts, longest, usualBytes) },
    max: { ...plain.max, input: plain.max.input + again, searchUnits: searchUnits(texts, longest, fewestBytes) },
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
