import { completionTokens, joined, plus, promptTokens, type Usage } from '../../domain/call/usage.js';
import type { UsageBound } from '../../domain/call/usage-bound.js';
import { isZero } from '../../domain/kernel/decimal.js';
import type { Price } from '../../domain/pricing/pricing.js';
import { tokenUnit } from '../../domain/pricing/pricing.js';
import type { UsedTokens } from './believed-usage.js';

/* What a call has used that makes pictures: as many as came, and their tokens as far as the call can have used as many. */

interface KnownOfPictures {
  readonly bound: UsageBound;
  /** Tokens of the prompt as they are counted here. */
  readonly promptEstimate: number;
  /** Pictures that were ordered. */
  readonly answers: number;
  /** Of each picture, as near as can be known. */
  readonly pictureTokens: number;
  /** No picture of the model that upstream was asked for has fewer. */
  readonly leastTokens: number;
  readonly price: Price;
  /** The caller has left while they were made: upstream makes and charges them all the same. */
  readonly left: boolean;
}

/** Tokens have a price; where they have none, they are told and not charged. */
function isByToken(price: Price): boolean {
  const unit = tokenUnit(price);
  return unit !== null && !isZero(unit);
}

/** As much as is reserved for; of pictures to go by as far as they are reported. */
function inputWithin({ input: max }: UsageBound, { imageInput = 0 }: Usage): Usage {
  const pictures = Math.min(imageInput, max);
  return { input: max - pictures, imageInput: pictures };
}

/** `reported`: with the pictures that came; null: nothing came that says anything. */
export function pictureUsage(
  reported: Usage | null,
  { bound, promptEstimate, answers, pictureTokens, leastTokens, price, left }: KnownOfPictures,
): UsedTokens {
  const { images: came = 0, ...tokens } = reported ?? {};
  const images = left && came === 0 ? answers : Math.min(came, answers);
  const byToken = isByToken(price);
  const [input, output] = [promptTokens(tokens), completionTokens(tokens)];
  const unsaid = { input: byToken && input === 0, output: byToken && (output === 0 || (left && came === 0)) };
  const tooFew = byToken && output > 0 && output < leastTokens * Math.min(came, answers);
  const tooMany = { input: input > bound.input, output: output > bound.output };
  const lied = came > answers || tooMany.input || tooMany.output || tooFew;
  if (reported !== null && !lied && !unsaid.input && !unsaid.output && images === came)
    return { usage: reported, usageSource: 'upstream' };
  // Where no picture came, none is charged, whatever is said of it.
  const all = tooMany.output && images > 0 ? bound.output : Math.min(pictureTokens * images, bound.output);
  const taken = tooMany.input ? inputWithin(bound, tokens) : tokens;
  const usage = joined(
    unsaid.input ? { input: promptEstimate } : taken,
    unsaid.output || tooMany.output || tooFew ? { imageOutput: all } : tokens,
  );
  return { usage: plus(usage, 'images', images), usageSource: lied ? 'disbelieved' : 'estimated' };
}
