import { HTMLSelect } from '@blueprintjs/core';
import { useState } from 'react';
import type { ExampleBillQuery } from '../../generated/settings/prices/prices.js';
import { Fact, Facts } from '../../kit/Facts.js';
import { formatExactly } from '../../kit/figures.js';
import { useStatus } from '../../kit/SessionProvider.js';
import type { Column } from '../../kit/table/columns.js';
import { FilterField } from '../../kit/table/FilterBar.js';
import { ResourceTable } from '../../kit/table/ResourceTable.js';
import { dollarsFor, dollarsPerMillion } from '../../kit/unitPrice.js';
import { useText } from '../../kit/words/i18n.js';
import { type ExampleName, exampleNames, exampleUsage, type UsedQuantity } from './exampleUsages.js';
import { PriceInput } from './PriceInput.js';
import type { PeriodDraft } from './priceDraft.js';
import { tokenNames } from './priceRecord.js';
import { pricesTexts } from './prices.texts.js';
import { useQuantityName } from './priceWords.js';
import { percent } from './QuantityGrid.js';

export type Bill = ExampleBillQuery['exampleBill'];
type Line = NonNullable<Bill['billing']>['lines'][number];

/** For whom, and with what usage, the example is worked out. */
export interface ExampleTerms {
  readonly usage: readonly UsedQuantity[];
  readonly group: string;
  /** Empty: the usual one. */
  readonly serviceTier: string;
}

export const firstExample = (period: PeriodDraft): ExampleTerms => ({
  usage: exampleUsage('chat', period),
  group: '',
  serviceTier: '',
});

interface ExampleBillProps {
  readonly period: PeriodDraft;
  readonly terms: ExampleTerms;
  readonly groups: readonly string[];
  /** undefined: not worked out yet. */
  readonly bill: Bill | undefined;
  /** Why there is none; null: nothing is wrong. */
  readonly problem: string | null;
  readonly onChange: (terms: ExampleTerms) => void;
}

const isTokenName = (name: string): boolean => tokenNames.some((token) => token === name);

/** What a call would cost by what is typed, as the server charges it. */
export function ExampleBill({ period, terms, groups, bill, problem, onChange }: ExampleBillProps) {
  const t = useText(pricesTexts);
  const nameOf = useQuantityName();
  const { quotaPerUnit } = useStatus();
  const [name, setName] = useState<ExampleName>('chat');
  const tiers = period.serviceTiers.map(({ tier }) => tier.trim()).filter((tier) => tier !== '');

  const choose = (chosen: ExampleName): void => {
    setName(chosen);
    onChange({ ...terms, usage: exampleUsage(chosen, period) });
  };
  const withCount = (quantity: string, text: string): void => {
    const count = Math.min(Math.trunc(Number(text.replaceAll(',', ''))) || 0, 1_000_000_000);
    onChange({
      ...terms,
      usage: terms.usage.map((used) => (used.quantity === quantity ? { quantity, count: Math.max(0, count) } : used)),
    });
  };
  const columns: readonly Column<Line>[] = [
    { id: 'quantity', header: t('bill.quantity'), heading: true, cell: ({ quantity }) => nameOf(quantity) },
    {
      id: 'count',
      header: t('bill.amount'),
      align: 'end',
      cell: ({ count }) => <span className="figures">{formatExactly(count)}</span>,
    },
    {
      id: 'price',
      header: t('bill.price'),
      align: 'end',
      cell: ({ quantity, unitPrice }) => (
        <span className="figures">
          {isTokenName(quantity)
            ? t('bill.perMillion', { price: dollarsPerMillion(unitPrice, quotaPerUnit) })
            : dollarsFor(unitPrice, quotaPerUnit)}
        </span>
      ),
    },
    {
      id: 'amount',
      header: t('bill.sum'),
      align: 'end',
      cell: ({ amount }) => <span className="figures">{dollarsFor(amount, quotaPerUnit)}</span>,
    },
  ];
  const total = (billing: Bill['billing']): string | null =>
    billing === null ? null : dollarsFor(String(billing.total), quotaPerUnit);

  return (
    <section className="price-bill" aria-label={t('bill.title')}>
      <h5>{t('bill.title')}</h5>
      <div className="price-bill-terms">
        <FilterField label={t('bill.usage')}>
          {(id) => (
            <HTMLSelect
              fill
              id={id}
              value={name}
              options={exampleNames.map((value) => ({ value, label: t(`example.${value}`) }))}
              onChange={({ currentTarget }) => {
                const chosen = exampleNames.find((one) => one === currentTarget.value);
                if (chosen !== undefined) choose(chosen);
              }}
            />
          )}
        </FilterField>
        <FilterField label={t('bill.group')}>
          {(id) => (
            <HTMLSelect
              fill
              id={id}
              value={terms.group}
              options={[
                { value: '', label: t('bill.plainGroup') },
                ...groups.map((value) => ({ value, label: value })),
              ]}
              onChange={({ currentTarget }) => onChange({ ...terms, group: currentTarget.value })}
            />
          )}
        </FilterField>
        {tiers.length > 0 && (
          <FilterField label={t('bill.service')}>
            {(id) => (
              <HTMLSelect
                fill
                id={id}
                value={tiers.includes(terms.serviceTier) ? terms.serviceTier : ''}
                options={[
                  { value: '', label: t('bill.usualService') },
                  ...tiers.map((value) => ({ value, label: value })),
                ]}
                onChange={({ currentTarget }) => onChange({ ...terms, serviceTier: currentTarget.value })}
              />
            )}
          </FilterField>
        )}
      </div>
      <div className="price-factors">
        {terms.usage.map(({ quantity, count }) => (
          <div key={quantity} className="price-factor">
            <span>{nameOf(quantity)}</span>
            <PriceInput
              label={t('bill.count', { name: nameOf(quantity) })}
              value={String(count)}
              path=""
              problem={null}
              onChange={(text) => withCount(quantity, text)}
            />
          </div>
        ))}
      </div>
      {problem !== null && <p role="status">{problem}</p>}
      {problem === null && bill === undefined && <p role="status">{t('bill.waiting')}</p>}
      {problem === null && bill !== undefined && bill.billing === null && <p role="status">{t('bill.none')}</p>}
      {problem === null && bill !== undefined && bill.billing !== null && (
        <>
          <ResourceTable
            label={t('bill.lines')}
            columns={columns}
            rows={bill.billing.lines}
            rowKey={({ quantity }) => quantity}
          />
          <Facts amounts>
            <Fact name={t('bill.total')}>{total(bill.billing)}</Fact>
            <Fact name={t('bill.purchase')}>{total(bill.purchase)}</Fact>
            <Fact name={t('bill.margin')}>{bill.margin === null ? null : percent(bill.margin)}</Fact>
          </Facts>
        </>
      )}
    </section>
  );
}
