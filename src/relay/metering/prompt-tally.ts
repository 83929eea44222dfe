import { jsonText } from '../json/exact-number.js';
import { isList, isObject, type JsonObject, type JsonValue } from '../json/json.js';
import { countsExactly, countTokens } from '../text/tokens.js';
import { type MediaTokens, mediaIn } from './media-tokens.js';

/*
 * What a prompt counts before anyone has answered; what stands in it is for the endpoint to say. Nothing is fetched, and
 * odd input counts as little as it says.
 */

/** As JSON; empty when it is nested so deeply that it cannot be written. */
const writtenOut = (value: JsonValue): string => {
  try {
    return jsonText(value);
  } catch {
    return '';
  }
};

/** Files of a prompt that are looked into; others count by their bytes, so that nobody waits long. */
const maxLookedInto = 16;

/** Texts to be counted together, and what counts otherwise. `names`: of the model, as asked for and as channels send it. */
export class PromptTally {
  /** Tokens that are no text. */
  fixed = 0;
  private readonly texts: string[] = [];
  private readonly media = { likely: 0, ample: 0, most: 0, characters: 0 };
  /** Files that may be sound. */
  private lookedInto = 0;
  private readonly sound = { ample: 0, most: 0 };
  private keeps = false;
  private brings = false;

  constructor(
    readonly model: string,
    private readonly names: ReadonlySet<string>,
  ) {}

  text(value: unknown): void {
    if (typeof value === 'string') this.texts.push(value);
    else if (isObject(value) || isList(value)) this.texts.push(writtenOut(value));
  }

  /** What a caller says of keeping a part of the prompt in a cache. */
  cached(control: JsonValue | undefined): void {
    if (isObject(control) && control.ttl === '1h') this.keeps = true;
  }

  /** A picture, a sound or a file, as it stands in a message. */
  part(part: JsonObject): void {
    const counted = mediaIn(this.model, this.names, part, this.lookedInto < maxLookedInto);
    if (counted?.maySound) this.lookedInto++;
    if (counted !== null) this.count(counted);
  }

  count({ likely, ample, most, characters, maySound, brought }: MediaTokens): void {
    const { media, sound } = this;
    if (brought === true) this.brings = true;
    media.likely += likely;
    media.ample += ample;
    media.most += most;
    media.characters += characters;
    if (!maySound) return;
    sound.ample += ample;
    sound.most += most;
  }

  /** `bytes`: of the whole request. */
  total(bytes: number): PromptEstimate {
    const text = this.fixed + countTokens(this.model, this.texts);
    // No encoding makes more than one token of a byte, and JSON has bytes to spare for what frames a message.
    const maxText = Math.max(bytes - this.media.characters, text);
    const margin = countsExactly(this.model, this.texts) ? ownMargin : foreignMargin;
    const ample = Math.min(Math.max(Math.ceil(text * margin), Math.ceil(maxText / thriftiest)), maxText);
    return {
      likely: text + this.media.likely,
      ample: ample + this.media.ample,
      most: maxText + this.media.most,
      sound: this.sound,
      uncounted: this.media.most > 0,
      keeps: this.keeps,
      brings: this.brings,
    };
  }
}

export interface PromptEstimate {
  /** As near as can be told from here; what is charged when upstream does not say. */
  readonly likely: number;
  /** With a margin for encodings that are not public, and for samples that deceive. */
  readonly ample: number;
  /** What the bytes sent cannot exceed, whatever the encoding. */
  readonly most: number;
  /** What of it may be sound. */
  readonly sound: { readonly ample: number; readonly most: number };
  /** Some of it is to be kept in a cache for an hour. */
  readonly keeps: boolean;
  /** Some of it is brought by the provider or lies elsewhere: nobody here knows how long that is. */
  readonly brings: boolean;
  /** Some of it is no text, and only guessed. */
  readonly uncounted: boolean;
}

/** Where our encoding is the model's and every character was counted: templates differ by a little. */
const ownMargin = 1.1;
/** Other vendors' encodings make up to twice as many tokens of the same text; so may text made to look short in samples. */
const foreignMargin = 2;
/** No text that says something has more bytes to a token than this: what the tally does not know of counts at least so. */
const thriftiest = 6;
