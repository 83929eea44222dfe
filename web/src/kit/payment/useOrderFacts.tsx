import { useMemo } from 'react';
import type { OrderFactsFragment } from '../../generated/kit/payment/payment.js';
import { QuotaText } from '../QuotaText.js';
import type { Column } from '../table/columns.js';
import { type Translate, useText } from '../words/i18n.js';
import { OrderStatus } from './OrderStatus.js';
import { paymentTexts } from './payment.texts.js';
import type { paymentZh } from './payment.zh.js';
import { useMethodName } from './useMethodName.js';

const columnsFor = (
  t: Translate<typeof paymentZh>,
  nameOf: (method: string) => string,
): readonly Column<OrderFactsFragment>[] => [
  { id: 'status', header: t('column.status'), cell: (order) => <OrderStatus order={order} /> },
  {
    id: 'quota',
    header: t('column.quota'),
    align: 'end',
    cell: ({ quota }) => <QuotaText quota={quota} />,
    under: ({ takenBack }) => (takenBack > 0 ? <QuotaText quota={-takenBack} /> : null),
  },
  {
    id: 'money',
    header: t('column.money'),
    align: 'end',
    cell: ({ money, currency }) => <span className="figures">{`${money} ${currency}`}</span>,
  },
  { id: 'method', header: t('column.method'), priority: 2, cell: ({ method }) => nameOf(method) },
];

/** What lists of orders show of each, whosever list it is: how it stands, what it is worth, by which way it is paid. */
export function useOrderFacts(): readonly Column<OrderFactsFragment>[] {
  const t = useText(paymentTexts);
  const nameOf = useMethodName();
  return useMemo(() => columnsFor(t, nameOf), [t, nameOf]);
}
