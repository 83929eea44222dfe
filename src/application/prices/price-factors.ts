import { decimal, decimalText, integer, isSame, isZero, ratioOf, times } from '../../domain/kernel/decimal.js';
import { readContextTiers } from '../../domain/options/context-tier-option.js';
import type { OptionKey } from '../../domain/options/option-table.js';
import { readRatios } from '../../domain/options/option-values.js';
import { readServiceTiers } from '../../domain/options/service-tier-option.js';
import { completionRule } from '../../domain/pricing/built-in/completion-rules.js';
import type { ContextTier } from '../../domain/pricing/context-tiers.js';
import type { Price, TokenPrice } from '../../domain/pricing/pricing.js';
import {
  isOutput,
  isToolCalls,
  type PieceQuantity,
  type Quantity,
  type TokenQuantity,
  toolOf,
} from '../../domain/pricing/quantities.js';
import { quantityRatio } from '../../domain/pricing/rates.js';
import { joinedFactor, tierFactorsOf, usualTier } from '../../domain/pricing/service-tiers.js';
import { toolPriceIn } from '../../domain/pricing/tool-prices.js';

/* Which option each factor of a price stands in, so that it can be shown who set it. */

export interface PriceFactor {
  /**
   * `model`, `group`, `price`, `quotaPerUnit`, or the quantity that the factor is about; `over:272000:input`: by what that
   * quantity is multiplied where the prompt has more tokens; `service:flex`: by what all is at that tier of service.
   */
  readonly factor:
    | 'model'
    | 'group'
    | 'price'
    | 'quotaPerUnit'
    | Quantity
    | `over:${number}:${TokenQuantity}`
    | `service:${string}`;
  readonly value: string;
  /** null: no option holds it, the gateway has it built in. */
  readonly option: OptionKey | null;
  /** Of the option's table; null: the option is the value. */
  readonly entry: string | null;
  /** What the option would make of this factor if it held this text; null: nothing. Throws where it cannot be read. */
  valueIn(text: string): string | null;
}

/** Operators set these kinds of tokens apart from the plain ones of their side; the others are built in. */
const optionOf: Readonly<Partial<Record<TokenQuantity, OptionKey>>> = {
  output: 'CompletionRatio',
  cachedInput: 'CacheRatio',
  imageOutput: 'ImageOutputRatio',
  reasoning: 'ReasoningRatio',
};

type Factor = PriceFactor['factor'];

const thousand = integer(1000);

const inTable = (factor: Factor, value: string, option: OptionKey, entry: string): PriceFactor => ({
  factor,
  value,
  option,
  entry,
  valueIn: (text) => readRatios(option, text).get(entry) ?? null,
});

const quotaPerUnitSource = (value: string): PriceFactor => ({
  factor: 'quotaPerUnit',
  value,
  option: 'QuotaPerUnit',
  entry: null,
  valueIn: (text) => text,
});

const builtIn = (factor: Factor, value: string): PriceFactor => ({
  factor,
  value,
  option: null,
  entry: null,
  valueIn: () => null,
});

/** Where what is put out has a ratio that no option changes. */
const isLocked = (model: string): boolean => !model.includes('/') && completionRule(model)?.locked === true;

function tokenSource(quantity: TokenQuantity, value: string, model: string): PriceFactor {
  const option = quantity === 'output' && isLocked(model) ? undefined : optionOf[quantity];
  return option === undefined ? builtIn(quantity, value) : inTable(quantity, value, option, model);
}

const tokenSources = (price: TokenPrice, model: string): PriceFactor[] => [
  inTable('model', price.model, 'ModelRatio', model),
  ...(Object.entries(price.ratios) as [TokenQuantity, string][]).map(([quantity, value]) =>
    tokenSource(quantity, value, model),
  ),
  ...(price.tiers ?? []).flatMap((tier) => tierSources(price, tier, model)),
];

const one = integer(1);

/** As far as a price says it: to the digits that ratios are kept to. */
const keptFactor = (factor: string): string => decimalText(ratioOf(decimal(factor), one));

/** By what a tier multiplies; null: nothing comes of it, whatever it is. */
function factorIn(price: TokenPrice, tier: ContextTier, name: TokenQuantity): string | null {
  const usual = decimal(quantityRatio(price, name));
  const beyond = quantityRatio({ ...price, ratios: tier.ratios }, name);
  return isZero(usual) ? null : decimalText(ratioOf(decimal(beyond), usual));
}

/** Of each side, and of what has a factor of its own. */
function tierSources(price: TokenPrice, tier: ContextTier, model: string): PriceFactor[] {
  const ofSide = { input: factorIn(price, tier, 'input'), output: factorIn(price, tier, 'output') };
  const names = new Set<TokenQuantity>(['input', 'output', ...(Object.keys(tier.ratios) as TokenQuantity[])]);
  return [...names].flatMap((name) => {
    const side = isOutput(name) ? 'output' : 'input';
    const value = factorIn(price, tier, name);
    const followsSide = name !== side && value !== null && isSame(decimal(value), decimal(ofSide[side] ?? '1'));
    if (value === null || followsSide) return [];
    return {
      factor: `over:${tier.over}:${name}` as const,
      value,
      option: 'ContextTiers',
      entry: model,
      valueIn(text) {
        const factors = readContextTiers(text)
          .get(model)
          ?.find(({ over }) => over === tier.over)?.factors;
        return factors === undefined ? null : keptFactor(factors[name] ?? factors[side] ?? '1');
      },
    } satisfies PriceFactor;
  });
}

/** A call at the usual tier has no such factor. */
function serviceSources({ service }: Price, model: string): PriceFactor[] {
  if (service === undefined || service.tier === usualTier) return [];
  const { tier, factor } = service;
  return [
    {
      factor: `service:${tier}`,
      value: factor,
      option: 'ServiceTiers',
      entry: model,
      valueIn: (text) => joinedFactor(tierFactorsOf(readServiceTiers(text), model), tier),
    },
  ];
}

/** Tools have a price for a thousand calls; that of one is a factor. */
const pieceSource = (quantity: PieceQuantity, dollars: string, model: string): PriceFactor => {
  if (!isToolCalls(quantity)) return builtIn(quantity, dollars);
  const tool = toolOf(quantity);
  return {
    factor: quantity,
    value: decimalText(times(decimal(dollars), thousand)),
    option: 'ToolPrice',
    entry: tool,
    valueIn: (text) => toolPriceIn(readRatios('ToolPrice', text), tool, model) ?? null,
  };
};

/** Every factor of the price of a model for a group. `called`: as billed. */
export function priceFactors(price: Price, called: string, group: string): readonly PriceFactor[] {
  const model = price.like ?? called;
  const pieces = Object.entries(price.pieces?.dollars ?? {}) as [PieceQuantity, string][];
  const perUnit = price.per === 'call' ? price.quotaPerUnit : price.pieces?.quotaPerUnit;
  return [
    // Of pictures that are sold by what was ordered, tokens have no price.
    ...(price.pieces?.picture !== undefined
      ? []
      : price.per === 'call'
        ? [inTable('price', price.price, 'ModelPrice', model)]
        : tokenSources(price, model)),
    ...pieces.map(([quantity, dollars]) => pieceSource(quantity, dollars, model)),
    ...(perUnit === undefined ? [] : [quotaPerUnitSource(perUnit)]),
    ...serviceSources(price, model),
    inTable('group', price.group, 'GroupRatio', group),
  ];
}
