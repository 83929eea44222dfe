import type { PriceEditOrder } from '../../application/prices/price-editing.js';
import { decimal, isNegative, isZero } from '../../domain/kernel/decimal.js';
import { invalidField } from '../../domain/kernel/failure.js';
import { isPieces, isQuantity, isTokens } from '../../domain/pricing/quantities.js';
import type { TokenRate } from '../../domain/pricing/records/model-price.js';
import type { PricePart } from '../../domain/pricing/records/price-edits.js';
import type { PriceEditInput } from './price-editing.js';

/* An edit as it comes over the wire, and as it is carried out. */

const maxFactor = 1_000;

function factorIn(text: string | null | undefined): string {
  const factor = text === null || text === undefined ? null : decimal(text);
  if (factor === null || isNegative(factor) || isZero(factor) || Number(text) > maxFactor)
    throw invalidField('edit.factor', `a number above 0, at most ${maxFactor}`);
  return text as string;
}

const partAllowed = 'call, or tokens.NAME or pieces.NAME with the name of a quantity';

function partIn(text: string): PricePart {
  if (text === 'call') return { of: 'call' };
  const [table, name = ''] = text.split(/\.(.*)/s);
  if (isQuantity(name)) {
    if (table === 'tokens' && isTokens(name)) return { of: 'tokens', quantity: name };
    if (table === 'pieces' && isPieces(name)) return { of: 'pieces', quantity: name };
  }
  throw invalidField('edit.part', partAllowed);
}

function rateIn({ usd, ratio }: PriceEditInput, part: PricePart): TokenRate | null {
  const [dollars, relative] = [usd ?? null, ratio ?? null];
  if (dollars !== null && relative !== null) throw invalidField('edit.ratio', 'null when usd is given');
  if (relative !== null && (part.of !== 'tokens' || part.quantity === 'input'))
    throw invalidField('edit.ratio', 'null: this part has a price in usd only');
  if (dollars !== null) return { usd: dollars };
  return relative === null ? null : { ratio: relative };
}

const members = ['factor', 'part', 'usd', 'ratio', 'from'] as const;
type Member = (typeof members)[number];

const membersOf: Readonly<Record<PriceEditInput['kind'], readonly Member[]>> = {
  multiply: ['factor'],
  margin: ['factor'],
  set: ['part', 'usd', 'ratio'],
  copy: ['from'],
  'built-in': [],
};

/** Throws `invalid-field`, also for a member that an edit of this kind has no use for. */
export function editOrderOf(input: PriceEditInput): PriceEditOrder {
  for (const name of members)
    if ((input[name] ?? null) !== null && !membersOf[input.kind].includes(name))
      throw invalidField(`edit.${name}`, 'null in an edit of this kind');
  switch (input.kind) {
    case 'multiply':
    case 'margin':
      return { kind: input.kind, factor: factorIn(input.factor) };
    case 'set': {
      const part = partIn(input.part ?? '');
      return { kind: 'set', part, rate: rateIn(input, part) };
    }
    case 'copy':
      return { kind: 'copy', from: input.from ?? '' };
    case 'built-in':
      return { kind: 'built-in' };
  }
}
