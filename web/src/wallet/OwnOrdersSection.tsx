import { useMutation, useQuery } from '@apollo/client/react';
import { Refresh } from '@blueprintjs/icons';
import { useMemo } from 'react';
import type { OrderFactsFragment } from '../generated/kit/payment/payment.js';
import { type OwnOrderFragment, OwnOrdersDocument, PollOrderDocument } from '../generated/wallet/topUp.js';
import { useOrderFacts } from '../kit/payment/useOrderFacts.js';
import { Section } from '../kit/Section.js';
import { useStatus } from '../kit/SessionProvider.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { RowAction } from '../kit/table/RowAction.js';
import { useNumberedPages } from '../kit/table/useNumberedPages.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { type Translate, useText } from '../kit/words/i18n.js';
import { topUpTexts } from './topUp.texts.js';
import type { topUpZh } from './topUp.zh.js';

const columnsFor = (
  t: Translate<typeof topUpZh>,
  facts: readonly Column<OrderFactsFragment>[],
  actions: string,
): readonly Column<OwnOrderFragment>[] => [
  { id: 'order', header: t('column.order'), heading: true, cell: ({ id }) => <code>{id}</code> },
  ...facts,
  { id: 'createdAt', header: t('column.createdAt'), priority: 3, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { id: 'look', header: actions, fixed: true, pinned: true, align: 'end', cell: (order) => <Look order={order} /> },
];

/** Asks for one that is not paid yet, as far as anybody has reported. */
function Look({ order: { id, status } }: { readonly order: OwnOrderFragment }) {
  const t = useText(topUpTexts);
  const [poll, { loading }] = useMutation(PollOrderDocument);
  if (status === 'COMPLETED') return null;
  const label = t('order.look', { id });
  return (
    <RowAction
      icon={<Refresh size={14} />}
      label={label}
      loading={loading}
      onClick={() => void poll({ variables: { id } }).catch(() => undefined)}
    />
  );
}

/** What one has ordered; nothing where quota was never sold. */
export function OwnOrdersSection() {
  const t = useText(topUpTexts);
  const common = useText(commonTexts);
  const facts = useOrderFacts();
  const { onlineTopUp } = useStatus();
  const { page, size, paging } = useNumberedPages();
  const result = useQuery(OwnOrdersDocument, { variables: { page, size }, fetchPolicy: 'cache-and-network' });
  const columns = useMemo(() => columnsFor(t, facts, common('actions')), [t, facts, common]);
  const total = result.data?.ownPayments.total;
  if (!onlineTopUp && (total ?? 0) === 0) return null;
  return (
    <Section title={t('orders.title')}>
      <ResourceTable
        label={t('orders.title')}
        columns={columns}
        columnsKey="own-order-table-columns"
        rows={result.data?.ownPayments.items}
        rowKey={({ id }) => id}
        result={result}
        empty={t('orders.empty')}
        paging={paging(total)}
      />
    </Section>
  );
}
