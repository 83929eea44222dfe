import { Tag } from '@blueprintjs/core';
import { useMemo } from 'react';
import type { PriceTableQuery } from '../../generated/settings/prices/prices.js';
import { useStatus } from '../../kit/SessionProvider.js';
import type { Column } from '../../kit/table/columns.js';
import { dollarsFor, dollarsPerMillion } from '../../kit/unitPrice.js';
import { useText } from '../../kit/words/i18n.js';
import { pricesTexts } from './prices.texts.js';
import { percent } from './QuantityGrid.js';

type Row = PriceTableQuery['priceTable']['items'][number];

const dayOf = (at: number): string => new Date(at * 1000).toISOString().slice(0, 10);

/** What is shown of each model of the price table. */
export function usePriceColumns(): readonly Column<Row>[] {
  const t = useText(pricesTexts);
  const { quotaPerUnit } = useStatus();
  return useMemo((): readonly Column<Row>[] => {
    const perMillion = (unitPrice: string | null | undefined) => (
      <span className="figures">
        {unitPrice === null || unitPrice === undefined ? '—' : dollarsPerMillion(unitPrice, quotaPerUnit)}
      </span>
    );
    return [
      {
        id: 'model',
        header: t('column.model'),
        heading: true,
        cell: ({ model }) => model,
        under: (row) => <Marks row={row} />,
        sort: { ascending: 'NAME', descending: 'NAME_DESC' },
      },
      { id: 'origin', header: t('column.origin'), priority: 2, cell: ({ origin }) => t(`origin.${origin}`) },
      {
        id: 'input',
        header: t('column.input'),
        align: 'end',
        cell: ({ unitPrices }) => perMillion(unitPrices?.input),
        sort: { ascending: 'INPUT', descending: 'INPUT_DESC' },
      },
      {
        id: 'output',
        header: t('column.output'),
        align: 'end',
        cell: ({ unitPrices }) => perMillion(unitPrices?.output),
        sort: { ascending: 'OUTPUT', descending: 'OUTPUT_DESC' },
      },
      {
        id: 'cachedInput',
        header: t('column.cachedInput'),
        align: 'end',
        priority: 3,
        cell: ({ unitPrices }) => perMillion(unitPrices?.cachedInput),
      },
      {
        id: 'cacheWrite',
        header: t('column.cacheWrite'),
        align: 'end',
        priority: 3,
        initiallyHidden: true,
        cell: ({ unitPrices }) => perMillion(unitPrices?.cacheWrite),
      },
      {
        id: 'call',
        header: t('column.call'),
        align: 'end',
        priority: 2,
        cell: ({ unitPrices }) => (
          <span className="figures">
            {(unitPrices?.call ?? null) === null ? '—' : dollarsFor(unitPrices?.call ?? '0', quotaPerUnit)}
          </span>
        ),
      },
      {
        id: 'list',
        header: t('column.list'),
        align: 'end',
        priority: 3,
        cell: ({ listUnitPrices }) => perMillion(listUnitPrices?.input),
      },
      {
        id: 'margin',
        header: t('column.margin'),
        align: 'end',
        priority: 3,
        cell: ({ margin }) => (
          <span className={`figures${margin !== null && Number(margin) < 0 ? ' price-loss' : ''}`}>
            {margin === null ? '—' : percent(margin)}
          </span>
        ),
      },
      {
        id: 'refused',
        header: t('column.refused'),
        align: 'end',
        priority: 3,
        initiallyHidden: true,
        cell: ({ refused }) => <span className="figures">{refused === 0 ? '—' : refused}</span>,
        sort: { descending: 'REFUSED_DESC' },
      },
    ];
  }, [t, quotaPerUnit]);
}

/** What is remarkable about a price. */
function Marks({ row }: { readonly row: Row }) {
  const t = useText(pricesTexts);
  const { origin, served, refused, differs, comingFrom } = row;
  return (
    <span className="price-marks">
      {origin === 'NONE' && (
        <Tag minimal intent="danger">
          {t('origin.NONE')}
        </Tag>
      )}
      {refused > 0 && (
        <Tag minimal intent="warning">
          {t('mark.refused', { calls: refused })}
        </Tag>
      )}
      {differs && <Tag minimal>{t('mark.differs')}</Tag>}
      {comingFrom !== null && (
        <Tag minimal intent="primary">
          {t('mark.coming', { day: dayOf(comingFrom) })}
        </Tag>
      )}
      {!served && <span className="price-unserved">{t('mark.notServed')}</span>}
    </span>
  );
}
