import { Button } from '@blueprintjs/core';
import { Cross, Tick } from '@blueprintjs/icons';
import type { PriceListQuery } from '../generated/pricing/pricing.js';
import { CopiedText } from '../kit/CopiedText.js';
import { StatusTag } from '../kit/StatusTag.js';
import type { Column } from '../kit/table/columns.js';
import { dollarsFor, dollarsPerMillion, shortRatio } from '../kit/unitPrice.js';
import type { Translate } from '../kit/words/i18n.js';
import { dayOf } from './dayOf.js';
import type { pricingZh } from './pricing.zh.js';

export type OfferedModel = PriceListQuery['priceList']['items'][number];
type T = Translate<typeof pricingZh>;

interface ColumnOptions {
  readonly t: T;
  readonly quotaPerUnit: string;
  /** That the prices are for; undefined: one's own, which is retired. */
  readonly group: string | undefined;
  readonly onGroup: (group: string) => void;
}

export function pricingColumns({ t, quotaPerUnit, group, onGroup }: ColumnOptions): readonly Column<OfferedModel>[] {
  const perMillion =
    (kind: 'output' | 'cachedInput' | 'cacheWrite') =>
    ({ unitPrices }: OfferedModel) =>
      price(unitPrices?.[kind] ?? null, quotaPerUnit);
  return [
    {
      id: 'available',
      header: t('column.available'),
      cell: (model) => <Availability model={model} t={t} />,
      priority: 2,
    },
    {
      id: 'model',
      header: t('column.model'),
      cell: ({ name }) => <CopiedText text={name} label={t('copy.model', { name })} />,
      under: (model) => notesOf(t, model).join(' · ') || null,
      heading: true,
      sort: { ascending: 'NEAREST', descending: 'NAME_DESC' },
    },
    {
      id: 'billing',
      header: t('column.billing'),
      cell: ({ price: factors, unitPrices }) =>
        factors === null ? (
          <StatusTag intent="warning" reason={t('available.unpriced')}>
            {t('unpriced')}
          </StatusTag>
        ) : (
          <StatusTag intent={factors.__typename === 'CallPrice' ? 'success' : 'primary'}>
            {t(billingOf(factors, unitPrices))}
          </StatusTag>
        ),
      priority: 2,
    },
    {
      id: 'groups',
      header: t('column.groups'),
      cell: ({ groups }) => (
        <div className="pricing-groups">
          {groups.map((name) => (
            <Button
              key={name}
              size="small"
              variant="outlined"
              text={name}
              active={name === group}
              aria-pressed={name === group}
              aria-label={t('group.show', { group: name })}
              title={t('group.show', { group: name })}
              onClick={() => onGroup(name)}
            />
          ))}
        </div>
      ),
      priority: 3,
    },
    {
      id: 'input',
      header: t('column.input'),
      cell: ({ unitPrices }) =>
        unitPrices?.call
          ? t('perCall', { price: dollarsFor(unitPrices.call, quotaPerUnit) })
          : price(unitPrices?.input ?? null, quotaPerUnit),
      under: ({ price: factors, unitPrices }) =>
        factors?.__typename === 'TokenPrice' && hasTokens(unitPrices)
          ? t('ratio.model', { ratio: shortRatio(factors.model) })
          : null,
      align: 'end',
      sort: { ascending: 'INPUT', descending: 'INPUT_DESC' },
    },
    {
      id: 'output',
      header: t('column.output'),
      cell: perMillion('output'),
      under: ratioOf(t, 'completion'),
      align: 'end',
      sort: { ascending: 'OUTPUT', descending: 'OUTPUT_DESC' },
    },
    {
      id: 'cachedInput',
      header: t('column.cachedInput'),
      cell: perMillion('cachedInput'),
      under: ratioOf(t, 'cache'),
      align: 'end',
      priority: 2,
    },
    {
      id: 'cacheWrite',
      header: t('column.cacheWrite'),
      cell: perMillion('cacheWrite'),
      under: ratioOf(t, 'cacheWrite'),
      align: 'end',
      priority: 3,
    },
  ];
}

/** Otherwise it is charged by call, or by the piece. */
const hasTokens = (unitPrices: OfferedModel['unitPrices']): boolean => (unitPrices?.input ?? null) !== null;

function billingOf(factors: NonNullable<OfferedModel['price']>, unitPrices: OfferedModel['unitPrices']) {
  if (factors.__typename === 'CallPrice') return 'billing.CALL' as const;
  return hasTokens(unitPrices) ? ('billing.TOKEN' as const) : ('billing.PIECE' as const);
}

const price = (unitPrice: string | null, quotaPerUnit: string) =>
  unitPrice === null ? null : <span className="figures">{dollarsPerMillion(unitPrice, quotaPerUnit)}</span>;

/** Who answers, and that the prices beside it are not all there is. */
const notesOf = (t: T, { provider, price: factors, tiers, coming }: OfferedModel): readonly string[] => [
  ...(provider === null ? [] : [provider]),
  ...(factors === null || factors.like === null ? [] : [t('like', { model: factors.like })]),
  ...(tiers.length === 0 ? [] : [t('tier.short')]),
  ...(coming === null ? [] : [t('coming.short', { date: dayOf(coming.from) })]),
];

/** What the price above it is the product of, beside the group's ratio. */
const ratioOf =
  (t: T, kind: 'completion' | 'cache' | 'cacheWrite') =>
  ({ price: factors, unitPrices }: OfferedModel) =>
    factors?.__typename === 'TokenPrice' && hasTokens(unitPrices)
      ? t('ratio.times', { ratio: shortRatio(factors[kind]) })
      : null;

function Availability({ model: { available, price: factors }, t }: { readonly model: OfferedModel; readonly t: T }) {
  if (available) return <Tick className="pricing-yes" title={t('available')} />;
  return <Cross className="pricing-no" title={t(factors === null ? 'available.unpriced' : 'available.not')} />;
}
