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
  readonly price: Price;
  /** The caller has left while they were made: upstream makes and charges them all the same. */
  readonly left: boolean;
}

/** Tokens have a price; where they have none, they are told and not charged. */
function isByToken(price: Price): boolean {
  const unit = tokenUnit(price);
  return unit !== null && !isZero(unit);
}

/** `reported`: with the pictures that came; null: nothing came that says anything. */
export function pictureUsage(
  reported: Usage | null,
  { bound, promptEstimate, answers, pictureTokens, price, left }: KnownOfPictures,
): UsedTokens {
  const { images: came = 0, ...tokens } = reported ?? {};
  const images = left && came === 0 ? answers : Math.min(came, answers);
  const byToken = isByToken(price);
  const [input, output] = [promptTokens(tokens), completionTokens(tokens)];
  const unsaid = { input: byToken && input === 0, output: byToken && (output === 0 || (left && came === 0)) };
  const lied = came > answers || input > bound.input || output > bound.output;
  if (reported !== null && !lied && !unsaid.input && !unsaid.output && images === came)
    return { usage: reported, usageSource: 'upstream' };
  const made = { imageOutput: Math.min(output > bound.output ? bound.output : pictureTokens * images, bound.output) };
  const usage = joined(
    unsaid.input || input > bound.input ? { input: promptEstimate } : tokens,
    unsaid.output || output > bound.output ? made : tokens,
  );
  return { usage: plus(usage, 'images', images), usageSource: lied ? 'disbelieved' : 'estimated' };
}
