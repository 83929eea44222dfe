import {
  asDollars,
  type ModelPrices,
  nothing,
  type PriceTableKey,
  type RatioKey,
  ratioKeys,
  ratiosFrom,
  typedNumber,
} from './modelPrices.js';

/* The form for the price of one model, as it stands before it is taken over into the tables. */

export type Billing = 'call' | 'ratio' | 'dollars';

export interface PriceForm {
  readonly name: string;
  readonly billing: Billing;
  readonly call: string;
  /** Ratios, or dollars for a million tokens. */
  readonly token: Readonly<Record<RatioKey, string>>;
}

const textOf = (value: number | null): string => (value === null ? '' : String(value));

const tokenTexts = (of: (key: RatioKey) => number | null): PriceForm['token'] =>
  Object.fromEntries(ratioKeys.map((key) => [key, textOf(of(key))])) as PriceForm['token'];

export const formOf = (name: string, prices: ModelPrices): PriceForm => ({
  name,
  billing: prices.ModelPrice === null ? 'ratio' : 'call',
  call: textOf(prices.ModelPrice),
  token: tokenTexts((key) => prices[key]),
});

type PriceProblem = 'nameMissing' | 'nameTaken' | 'number' | 'zero' | 'needed' | 'free';
export type PriceProblems = ReadonlyMap<'name' | 'call' | PriceTableKey, PriceProblem>;
export type Judged = { readonly problems: PriceProblems; readonly prices: ModelPrices | null };

/** What the form comes to, or what is wrong with it. `taken`: names a new model must not have. */
export function judge({ name, billing, call, token }: PriceForm, taken: (name: string) => boolean): Judged {
  const problems = new Map<'name' | 'call' | PriceTableKey, PriceProblem>();
  if (name.trim() === '') problems.set('name', 'nameMissing');
  else if (taken(name.trim())) problems.set('name', 'nameTaken');
  if (billing === 'call') {
    const price = typedNumber(call);
    if (price === undefined || price === null) problems.set('call', 'number');
    else if (price === 0) problems.set('call', 'zero');
    return { problems, prices: problems.size > 0 ? null : { ...nothing, ModelPrice: price ?? null } };
  }
  const typed = Object.fromEntries(ratioKeys.map((key) => [key, typedNumber(token[key])])) as Record<
    RatioKey,
    number | null | undefined
  >;
  for (const key of ratioKeys) if (typed[key] === undefined) problems.set(key, 'number');
  if (typed.ModelRatio === null) problems.set('ModelRatio', 'needed');
  if (problems.size > 0) return { problems, prices: null };
  const numbers = typed as Record<RatioKey, number | null>;
  const prices = billing === 'ratio' ? { ...nothing, ...numbers } : ratiosFrom(numbers);
  if (prices === null) problems.set('ModelRatio', 'free');
  return { problems, prices };
}

/** The same prices, said the other way. */
export function inBilling(form: PriceForm, billing: Billing): PriceForm {
  const { prices } = judge({ ...form, name: 'x' }, () => false);
  if (form.billing === 'call' || billing === 'call' || prices === null) return { ...form, billing };
  return {
    ...form,
    billing,
    token: tokenTexts((key) => (billing === 'dollars' ? asDollars(prices, key) : prices[key])),
  };
}
