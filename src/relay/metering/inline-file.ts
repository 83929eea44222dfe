import { factsOf } from '../../domain/models/model-facts.js';
import { measureNow } from '../sound/measure.js';

/* What a sound, a film or a document given inline comes to in tokens, as far as its bytes show. */

export interface FileTokens {
  readonly expected: number;
  readonly conservative: number;
  readonly max: number;
}

const bytesIn = (source: string): Buffer => {
  const comma = source.startsWith('data:') ? source.indexOf(',') : -1;
  return Buffer.from(source.slice(comma + 1), 'base64');
};

/** Tokens of a second. */
type Rates = FileTokens;

/** Whatever the model. */
const soundBounds = { conservative: 32, max: 40 };
/** A picture a second beside the sound: Gemini's models see 70 to 280 tokens of it, older ones 258. */
const filmRates: Rates = { expected: 290, conservative: 290, max: 320 };

/** Of so many seconds as are found in it; null: none are. */
function lasting(file: Buffer, rates: Rates): FileTokens | null {
  const measured = measureNow(file);
  if (measured === null) return null;
  const { seconds, bytes, densest } = measured;
  if (seconds === null) return null;
  const expected = Math.max(seconds, bytes / densest);
  const tokens = (rate: number): number => Math.ceil(expected * rate);
  return {
    expected: tokens(rates.expected),
    conservative: tokens(rates.conservative),
    max: tokens(rates.max),
  };
}

/** `model`: as asked for. */
export const soundTokensOf = (model: string, source: string): FileTokens | null =>
  lasting(bytesIn(source), { expected: factsOf(model).soundTokensPerSecond, ...soundBounds });

/** A page counts as its text and as a picture of it. */
const pageTokens = { usual: 1_500, max: 5_120 };
/** Nobody takes more pages. */
const maxPages = 1_000;
/** Where its pages are packed, so that none can be seen, a page takes no fewer bytes. */
const minPageBytes = 1_024;
const isSpaceOrSlash = /^[\s/]*$/;

function pagesSeen(file: Buffer): number {
  let pages = 0;
  for (let at = file.indexOf('/Page'); at >= 0 && pages < maxPages; at = file.indexOf('/Page', at + 5)) {
    const next = file.toString('latin1', at + 5, at + 6);
    const before = file.toString('latin1', Math.max(at - 10, 0), at);
    const type = before.lastIndexOf('/Type');
    if (type >= 0 && isSpaceOrSlash.test(before.slice(type + 5)) && !/[A-Za-z]/.test(next)) pages++;
  }
  return pages;
}

function document(file: Buffer): FileTokens {
  const seen = pagesSeen(file);
  const pages = seen > 0 ? seen : Math.min(Math.ceil(file.length / minPageBytes), maxPages);
  return {
    expected: seen * pageTokens.usual,
    conservative: seen * pageTokens.usual,
    max: file.length + pages * pageTokens.max,
  };
}

/** Of a document's pages, or a film's seconds; null: it is of another kind. */
export function fileTokensOf(source: string): FileTokens | null {
  const file = bytesIn(source);
  return file.subarray(0, 1_024).includes('%PDF-') ? document(file) : lasting(file, filmRates);
}
