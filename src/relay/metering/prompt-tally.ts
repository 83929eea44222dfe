import type { Counts } from '../../domain/call/usage.js';
import { type InputBound, unboundedTokens } from '../../domain/call/usage-bound.js';
import { factsOf } from '../../domain/models/model-facts.js';
import { boundOf } from '../../domain/pricing/quantities.js';
import { keepsForHours } from '../catalogue/cache-lifetimes.js';
import { jsonText } from '../json/exact-number.js';
import { isList, isObject, type JsonObject, type JsonValue } from '../json/json.js';
import { countsExactly, countTokens } from '../text/tokens.js';
import { type MediaTokens, mediaIn, readByTool } from './media-tokens.js';

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

type InputCounts = Counts & { input: number };

/** Not spread: that costs a call more than counting it does. */
function withText(media: InputCounts, tokens: number): InputBound {
  const all: InputCounts = Object.assign({ input: 0 }, media);
  all.input += tokens;
  return all;
}

/** Texts to be counted together, and what counts otherwise. `names`: of the model, as asked for and as channels send it. */
export class PromptTally {
  /** Tokens that are no text. */
  fixed = 0;
  private readonly texts: string[] = [];
  private readonly media = { expected: 0, characters: 0 };
  /** What is no text, all of it and by kind, with a margin and at most. */
  private readonly conservative: InputCounts = { input: 0 };
  private readonly max: InputCounts = { input: 0 };
  private lookedInto = 0;
  private brings = false;

  constructor(
    readonly model: string,
    private readonly names: ReadonlySet<string>,
  ) {
    for (const name of names)
      if (factsOf(name).readsWhatItFinds) {
        this.count(readByTool);
        break;
      }
  }

  text(value: unknown): void {
    if (typeof value === 'string') this.texts.push(value);
    else if (isObject(value) || isList(value)) this.texts.push(writtenOut(value));
  }

  /** What a caller says of keeping a part of the prompt in a cache. */
  cached(control: JsonValue | undefined): void {
    if (keepsForHours(control)) this.max.cacheWriteHour = unboundedTokens;
  }

  /** A picture, a sound or a file, as it stands in a message. */
  part(part: JsonObject): void {
    const counted = mediaIn(this.model, this.names, part, this.lookedInto < maxLookedInto);
    if (counted?.kind === 'audioInput') this.lookedInto++;
    if (counted !== null) this.count(counted);
  }

  count({ expected, conservative, max, characters, kind, brought }: MediaTokens): void {
    if (brought === true) this.brings = true;
    this.media.expected += expected;
    this.media.characters += characters;
    this.conservative.input += conservative;
    this.max.input += max;
    if (boundOf(kind) === null) return;
    this.conservative[kind] = (this.conservative[kind] ?? 0) + conservative;
    this.max[kind] = (this.max[kind] ?? 0) + max;
  }

  /** `bytes`: of the whole request. */
  total(bytes: number): PromptEstimate {
    const text = this.fixed + countTokens(this.model, this.texts);
    // No encoding makes more than one token of a byte, and JSON has bytes to spare for what frames a message.
    const maxText = Math.max(bytes - this.media.characters, text);
    const margin = countsExactly(this.model, this.texts) ? ownMargin : foreignMargin;
    const conservative = Math.min(Math.max(Math.ceil(text * margin), Math.ceil(maxText / thriftiest)), maxText);
    return {
      expected: text + this.media.expected,
      conservative: withText(this.conservative, conservative),
      max: withText(this.max, maxText),
      uncounted: this.max.input > 0,
      brings: this.brings,
    };
  }
}

/** Of a prompt whose tokens are counted here by a rule of its price. */
export const countedPrompt = (tokens: number): PromptEstimate => ({
  expected: tokens,
  conservative: { input: tokens },
  max: { input: tokens },
  brings: false,
  uncounted: false,
});

/** The same, where what its tokens stand for has a price of its own. */
export const withoutInput = (prompt: PromptEstimate): PromptEstimate => ({
  ...prompt,
  expected: 0,
  conservative: { ...prompt.conservative, input: 0 },
  max: { ...prompt.max, input: 0 },
});

export interface PromptEstimate {
  /** As near as can be known from here; what is charged when upstream does not say. */
  readonly expected: number;
  /** With a margin for encodings that are not public, and for samples that deceive. */
  readonly conservative: InputBound;
  /** What the bytes sent cannot exceed, whatever the encoding; and what it may use beside. */
  readonly max: InputBound;
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
