import { chosen, seedOf } from './sample-positions.js';
import { countSamples, countTokens, sampleLength } from './tokens.js';

/*
 * What a model has said, as far as it is needed to count it: whole while it is short, in samples when it grows, one at a
 * chosen place of each stride. A
 * stream of any length takes no more memory than this, and is counted by the same amount of work.
 */

/** With it, texts that are counted exactly are kept whole. */
const maxSamples = 64;

/** Pieces longer than this are cut; a cut from a string keeps the whole of it in memory, unless it is copied. */
const shortPiece = 1024;

const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

/** So many short pieces are joined to one text: until then each of them takes ten times its length. */
const maxLoose = 16;

/** Makes one text of the pieces it was put together from; V8 does so to look at a character. */
const joinPieces = (text: string | undefined): void => void text?.charCodeAt(0);

/** Up to here it is cheaper to look at every character than to ask. */
const shortWord = 32;

function isAscii(piece: string): boolean {
  for (let index = 0; index < piece.length; index++) if (piece.charCodeAt(index) > 0x7f) return false;
  return true;
}

/** Characters beyond the Latin ones. */
function wideIn(piece: string): number {
  let wide = 0;
  for (let index = 0; index < piece.length; index++) if (piece.charCodeAt(index) >= 0x250) wide++;
  return wide;
}

export class SeenText {
  /** In UTF-16 units, like a string's. */
  length = 0;
  /** In UTF-8. */
  bytes = 0;
  private wide = 0;
  /** One of each stride, in order, `sampleLength` units long but for the last. */
  private samples: string[] = [];
  private stride = sampleLength;
  /** Of the choice of places, once not everything is kept. */
  private seed = 0;
  /** Where the sample of the stride that is being read begins in it. */
  private offset = 0;
  /** Units that still fit into the last sample; 0 before there is one, and between samples. */
  private fits = 0;
  /** Pieces of the last sample that are not joined. */
  private loose = 0;

  constructor(text = '') {
    this.add(text);
  }

  add(piece: string): void {
    if (piece === '') return;
    const bytes = piece.length <= shortWord && isAscii(piece) ? piece.length : Buffer.byteLength(piece);
    this.bytes += bytes;
    if (bytes > piece.length) this.wide += wideIn(piece);
    // What a stream's chunk says, nearly always.
    if (piece.length <= this.fits) {
      this.samples[this.samples.length - 1] += piece;
      this.fits -= piece.length;
      this.length += piece.length;
      if (++this.loose >= maxLoose) this.join();
      return;
    }
    const copied = piece.length > shortPiece;
    for (let at = 0; at < piece.length; ) {
      const within = (this.length + at) % this.stride;
      // Thinned out, the samples have a larger stride, of which this is the beginning.
      if (within === 0) this.beginStride((this.length + at) / this.stride);
      if (within < this.offset) {
        at += this.offset - within;
        continue;
      }
      const taken = within - this.offset;
      if (taken >= sampleLength) {
        at += this.stride - within;
        continue;
      }
      const next = Math.min(at + sampleLength - taken, piece.length);
      const part = at === 0 && next === piece.length ? piece : piece.slice(at, next);
      if (taken === 0) {
        this.join();
        this.samples.push('');
      }
      this.samples[this.samples.length - 1] += copied ? copyOf(part) : part;
      at = next;
    }
    this.length += piece.length;
    const within = this.length % this.stride;
    const taken = within - this.offset;
    this.fits = within === 0 || taken <= 0 ? 0 : Math.max(sampleLength - taken, 0);
  }

  /** A token is about four Latin letters, or one and a half characters of other scripts. */
  roughTokens(): number {
    return (this.length - this.wide) * 0.25 + this.wide * 0.67;
  }

  /** As `countTokens` counts the text; estimated from the samples where it is not kept whole. */
  tokens(model: string): number {
    return this.stride === sampleLength
      ? countTokens(model, this.toString())
      : countSamples(model, this.samples, this.length, this.bytes);
  }

  /** The text, or its samples one after the other. */
  toString(): string {
    return this.samples.join('');
  }

  private join(): void {
    joinPieces(this.samples.at(-1));
    this.loose = 0;
  }

  /** When there is no room for another sample, one of every two neighbours goes. */
  private beginStride(index: number): void {
    if (this.samples.length >= maxSamples) {
      if (this.stride === sampleLength) this.seed = seedOf(this.samples);
      this.stride *= 2;
      const kept = this.samples.length / 2;
      for (let pair = 0; pair < kept; pair++)
        this.samples[pair] = this.samples[pair * 2 + chosen(this.seed, this.stride, pair, 2)] ?? '';
      this.samples.length = kept;
      index /= 2;
    }
    const offsets = this.stride / sampleLength;
    this.offset = offsets === 1 ? 0 : chosen(this.seed, -this.stride, index, offsets) * sampleLength;
  }
}
