import { createRequire } from 'node:module';
import type * as Encoding from 'gpt-tokenizer/encoding/o200k_base';
import type { ModelFacts } from '../../domain/models/fact-kinds.js';
import { factsOf } from '../../domain/models/model-facts.js';
import { chosen, seedOf } from './sample-positions.js';

/*
 * Counting tokens here, for estimates and for upstreams that report none. The work is bounded whatever the text is:
 * long texts are estimated from samples, and runs without a break, over which byte pair encoding takes quadratic time,
 * are cut.
 */

type EncodingName = ModelFacts['encoding'];
type Tokenizer = Pick<typeof Encoding, 'countTokens'>;

const load = createRequire(import.meta.url);
const tokenizers = new Map<EncodingName, Tokenizer>();

/** Loaded when first needed: 150 ms and 70 MB for the larger one. */
function tokenizerFor(name: EncodingName): Tokenizer {
  const known = tokenizers.get(name);
  if (known) return known;
  const loaded = load(`gpt-tokenizer/cjs/encoding/${name}`) as Tokenizer;
  tokenizers.set(name, loaded);
  return loaded;
}

/** Takes the loading out of the first call. */
export function preloadTokenizers(): void {
  tokenizerFor('o200k_base');
  tokenizerFor('cl100k_base');
}

/** Whether `countTokens` counts these texts character by character, in the model's own encoding. */
export const countsExactly = (model: string, texts: readonly string[]): boolean =>
  factsOf(model).hasOwnEncoding && texts.reduce((sum, text) => sum + text.length, 0) <= exactUpTo;

/** In characters. Up to here every character is counted, beyond it as many are looked at in samples. */
const exactUpTo = 8192;
const samples = 32;
export const sampleLength = exactUpTo / samples;

/** Runs of one kind of character, which the encodings do not split by themselves. */
const longRuns = /[\p{L}\p{M}]{65,}|\s{65,}|[^\s\p{L}\p{N}]{65,}/gu;
const maxRun = 64;

/** Text marks such as `<|endoftext|>` are text here: the caller's words, not the model's control. */
const everythingIsText = { disallowedSpecial: new Set<string>() };

/** Cuts a run into pieces of at most 64, never between the halves of a character. */
function* piecesOf(run: string): Generator<string> {
  for (let start = 0; start < run.length; ) {
    let end = Math.min(start + maxRun, run.length);
    if (/[\ud800-\udbff]/.test(run[end - 1] ?? '') && end < run.length) end--;
    yield run.slice(start, end);
    start = end;
  }
}

function countAll(tokenizer: Tokenizer, text: string): number {
  const runs = text.match(longRuns);
  if (runs === null) return tokenizer.countTokens(text, everythingIsText);
  let tokens = 0;
  let from = 0;
  for (const run of runs) {
    const at = text.indexOf(run, from);
    if (at > from) tokens += tokenizer.countTokens(text.slice(from, at), everythingIsText);
    for (const piece of piecesOf(run)) tokens += tokenizer.countTokens(piece, everythingIsText);
    from = at + run.length;
  }
  return from < text.length ? tokens + tokenizer.countTokens(text.slice(from), everythingIsText) : tokens;
}

/** Roles, names, tool definitions and system prompts come again with every call. */
const repeatedUpTo = 1024;
const rememberedTexts = 4096;
const counted: Record<EncodingName, Map<string, number>> = { o200k_base: new Map(), cl100k_base: new Map() };

function countShort(name: EncodingName, text: string): number {
  if (text === '') return 0;
  if (text.length > repeatedUpTo) return countAll(tokenizerFor(name), text);
  const known = counted[name].get(text);
  if (known !== undefined) return known;
  const tokens = countAll(tokenizerFor(name), text);
  // Emptied rather than allowed to grow; what repeats is soon there again.
  if (counted[name].size >= rememberedTexts) counted[name].clear();
  counted[name].set(text, tokens);
  return tokens;
}

/** One place in each of as many equal parts. The texts are read one after the other, without putting them together. */
function* samplesOf(texts: readonly string[], total: number): Generator<string> {
  const seed = seedOf(texts);
  let index = 0;
  let before = 0;
  for (let sample = 0; sample < samples; sample++) {
    const from = Math.floor((sample * total) / samples);
    const room = Math.floor(((sample + 1) * total) / samples) - from - sampleLength;
    const at = from + chosen(seed, 0, sample, room + 1);
    while (before + (texts[index]?.length ?? 0) <= at) before += texts[index++]?.length ?? 0;
    let piece = '';
    let start = at - before;
    for (let next = index; piece.length < sampleLength && next < texts.length; next++) {
      piece += (texts[next] ?? '').slice(start, start + sampleLength - piece.length);
      start = 0;
    }
    yield piece;
  }
}

/** Longer words are left in a sample that cuts them. */
const maxCut = 24;

/**
 * A sample without the words it cuts, where there are words: half a word takes more tokens than its share. A little at
 * each end, for what lies between blanks may be all there is.
 */
function wholeWords(piece: string): string {
  const first = Math.max(piece.slice(0, maxCut).search(/\s/), 0);
  const end = piece.slice(-maxCut);
  const last = end.search(/\s\S*$/);
  return last === -1 ? piece.slice(first) : piece.slice(first, piece.length - end.length + last);
}

/** No text that says something has more bytes to a token. */
const thriftiest = 6;

/** Tokens of a text of `total` characters and `bytes` bytes, by samples of it; never less than its bytes can hold. */
export function countSamples(model: string, samples: Iterable<string>, total: number, bytes: number): number {
  const tokenizer = tokenizerFor(factsOf(model).encoding);
  let characters = 0;
  let tokens = 0;
  for (const sample of samples) {
    const counted = wholeWords(sample);
    characters += counted.length;
    tokens += countAll(tokenizer, counted);
  }
  const sampled = characters === 0 ? 0 : Math.ceil((tokens * total) / characters);
  return Math.max(sampled, Math.ceil(bytes / thriftiest));
}

/**
 * Tokens of the text, or of all texts together, as the model's own encoding counts them; other vendors' models are
 * counted like OpenAI's older ones. Exact up to 8192 characters in all, estimated beyond.
 */
export function countTokens(model: string, text: string | readonly string[]): number {
  const texts = typeof text === 'string' ? [text] : text;
  const name = factsOf(model).encoding;
  const total = texts.reduce((sum, part) => sum + part.length, 0);
  if (total > exactUpTo) {
    const bytes = texts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    return countSamples(model, samplesOf(texts, total), total, bytes);
  }
  return texts.reduce((sum, part) => sum + countShort(name, part), 0);
}
