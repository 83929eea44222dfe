import { decimal, decimalText, integer, times } from '../../domain/kernel/decimal.js';
import type { OptionKey } from '../../domain/options/option-table.js';
import { readRatios } from '../../domain/options/option-values.js';
import { completionRule } from '../../domain/pricing/completion-rules.js';
import type { Price, TokenPrice } from '../../domain/pricing/pricing.js';
import {
  isToolCalls,
  type PieceQuantity,
  type Quantity,
  type TokenQuantity,
  toolOf,
} from '../../domain/pricing/quantities.js';
import { toolPriceIn } from '../../domain/pricing/tool-prices.js';

/* Which option each factor of a price stands in, so that it can be told who set it. */

export interface PriceSource {
  /** `model`, `group`, `price`, `quotaPerUnit`, or the quantity that the factor is about. */
  readonly factor: 'model' | 'group' | 'price' | 'quotaPerUnit' | Quantity;
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

type Factor = PriceSource['factor'];

const thousand = integer(1000);

const inTable = (factor: Factor, value: string, option: OptionKey, entry: string): PriceSource => ({
  factor,
  value,
  option,
  entry,
  valueIn: (text) => readRatios(option, text).get(entry) ?? null,
});

const quotaPerUnitSource = (value: string): PriceSource => ({
  factor: 'quotaPerUnit',
  value,
  option: 'QuotaPerUnit',
  entry: null,
  valueIn: (text) => text,
});

const builtIn = (factor: Factor, value: string): PriceSource => ({
  factor,
  value,
  option: null,
  entry: null,
  valueIn: () => null,
});

/** Where what is put out has a ratio that no option changes. */
const isLocked = (model: string): boolean => !model.includes('/') && completionRule(model)?.locked === true;

function tokenSource(quantity: TokenQuantity, value: string, model: string): PriceSource {
  const option = quantity === 'output' && isLocked(model) ? undefined : optionOf[quantity];
  return option === undefined ? builtIn(quantity, value) : inTable(quantity, value, option, model);
}

const tokenSources = ({ model: ratio, ratios }: TokenPrice, model: string): PriceSource[] => [
  inTable('model', ratio, 'ModelRatio', model),
  ...(Object.entries(ratios) as [TokenQuantity, string][]).map(([quantity, value]) =>
    tokenSource(quantity, value, model),
  ),
];

/** Tools have a price for a thousand calls; that of one is a factor. */
const pieceSource = (quantity: PieceQuantity, dollars: string, model: string): PriceSource => {
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

/** Every factor of the price of a model for a group. `model`: as billed. */
export function priceSources(price: Price, model: string, group: string): readonly PriceSource[] {
  const pieces = Object.entries(price.pieces?.dollars ?? {}) as [PieceQuantity, string][];
  const perUnit = price.per === 'call' ? price.quotaPerUnit : price.pieces?.quotaPerUnit;
  return [
    ...(price.per === 'call' ? [inTable('price', price.price, 'ModelPrice', model)] : tokenSources(price, model)),
    ...pieces.map(([quantity, dollars]) => pieceSource(quantity, dollars, model)),
    ...(perUnit === undefined ? [] : [quotaPerUnitSource(perUnit)]),
    inTable('group', price.group, 'GroupRatio', group),
  ];
}
