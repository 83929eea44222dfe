import type { ExampleBillQuery } from '../../generated/settings/prices/prices.js';
import { useStatus } from '../../kit/SessionProvider.js';
import { dollarsFor, dollarsPerMillion } from '../../kit/unitPrice.js';
import { useText } from '../../kit/words/i18n.js';
import type { FieldProblem } from './fieldProblem.js';
import { PriceInput } from './PriceInput.js';
import type { PeriodDraft, RateDraft, RatesDraft, RateUnit } from './priceDraft.js';
import type { TokenName } from './priceRecord.js';
import { pricesTexts } from './prices.texts.js';
import { useQuantityName } from './priceWords.js';

export type QuantityPrice = ExampleBillQuery['exampleBill']['quantities'][number];

interface QuantityGridProps {
  readonly period: PeriodDraft;
  readonly unit: RateUnit;
  readonly names: readonly TokenName[];
  /** `periods[0]`. */
  readonly path: string;
  readonly problem: FieldProblem | null;
  /** As the server works them out; empty: not known yet. */
  readonly prices: readonly QuantityPrice[];
  readonly onChange: (period: PeriodDraft) => void;
}

export const percent = (margin: string): string => `${Number((Number(margin) * 100).toFixed(2))} %`;

/** What each kind of token costs, what the provider takes for it, and what remains. */
export function QuantityGrid({ period, unit, names, path, problem, prices, onChange }: QuantityGridProps) {
  const t = useText(pricesTexts);
  const nameOf = useQuantityName();
  const { quotaPerUnit } = useStatus();
  const shown = new Map(prices.map((price) => [price.quantity, price]));

  const withRate = (rates: RatesDraft, name: TokenName, text: string): RatesDraft => {
    const before = rates.tokens[name];
    // What is typed into an empty field is meant as all others are shown.
    const rate: RateDraft = { unit: before.text === '' ? unit : before.unit, text };
    return { ...rates, tokens: { ...rates.tokens, [name]: rate } };
  };
  const unitOf = (name: TokenName, rate: RateDraft): string =>
    rate.unit === 'usd' || (name === 'input' && unit === 'usd') ? '$' : '×';
  const hint = (unitPrice: string | null | undefined): string | undefined =>
    unitPrice === null || unitPrice === undefined ? undefined : dollarsPerMillion(unitPrice, quotaPerUnit);

  return (
    <div className="price-grid">
      <span className="price-grid-head">{t('grid.quantity')}</span>
      <span className="price-grid-head">{t('grid.selling')}</span>
      <span className="price-grid-head">{t('grid.purchase')}</span>
      <span className="price-grid-head price-grid-margin">{t('grid.margin')}</span>
      {names.map((name) => {
        const price = shown.get(name);
        return (
          <div key={name} className="price-grid-row">
            <span className="price-grid-name">{nameOf(name)}</span>
            <PriceInput
              label={t('field.selling', { name: nameOf(name) })}
              value={period.selling.tokens[name].text}
              unit={unitOf(name, period.selling.tokens[name])}
              placeholder={hint(price?.unitPrice)}
              path={`${path}.tokens.${name}`}
              problem={problem}
              onChange={(text) => onChange({ ...period, selling: withRate(period.selling, name, text) })}
            />
            <PriceInput
              label={t('field.purchase', { name: nameOf(name) })}
              value={period.purchase.tokens[name].text}
              unit={unitOf(name, period.purchase.tokens[name])}
              placeholder={hint(price?.purchaseUnitPrice)}
              path={`${path}.purchase.tokens.${name}`}
              problem={problem}
              onChange={(text) => onChange({ ...period, purchase: withRate(period.purchase, name, text) })}
            />
            <Margin price={price} />
          </div>
        );
      })}
    </div>
  );
}

function Margin({ price }: { readonly price: QuantityPrice | undefined }) {
  const margin = price?.margin ?? null;
  if (margin === null) return <span className="price-grid-margin figures">—</span>;
  const isLoss = Number(margin) < 0;
  return <span className={`price-grid-margin figures${isLoss ? ' price-loss' : ''}`}>{percent(margin)}</span>;
}

interface CallFieldsProps {
  readonly period: PeriodDraft;
  readonly path: string;
  readonly problem: FieldProblem | null;
  readonly prices: readonly QuantityPrice[];
  readonly onChange: (period: PeriodDraft) => void;
}

/** The price of a call as such. */
export function CallFields({ period, path, problem, prices, onChange }: CallFieldsProps) {
  const t = useText(pricesTexts);
  const nameOf = useQuantityName();
  const { quotaPerUnit } = useStatus();
  const price = prices.find(({ quantity }) => quantity === 'call');
  const bought = price?.purchaseUnitPrice ?? null;
  return (
    <div className="price-grid">
      <span className="price-grid-head">{t('grid.quantity')}</span>
      <span className="price-grid-head">{t('grid.selling')}</span>
      <span className="price-grid-head">{t('grid.purchase')}</span>
      <span className="price-grid-head price-grid-margin">{t('grid.margin')}</span>
      <div className="price-grid-row">
        <span className="price-grid-name">{nameOf('call')}</span>
        <PriceInput
          label={t('field.selling', { name: nameOf('call') })}
          value={period.selling.call}
          unit="$"
          path={`${path}.call`}
          problem={problem}
          onChange={(call) => onChange({ ...period, selling: { ...period.selling, call } })}
        />
        <PriceInput
          label={t('field.purchase', { name: nameOf('call') })}
          value={period.purchase.call}
          unit="$"
          placeholder={bought === null ? undefined : dollarsFor(bought, quotaPerUnit)}
          path={`${path}.purchase.call`}
          problem={problem}
          onChange={(call) => onChange({ ...period, purchase: { ...period.purchase, call } })}
        />
        <Margin price={price} />
      </div>
    </div>
  );
}
