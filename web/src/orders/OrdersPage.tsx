import { useQuery } from '@apollo/client/react';
import { Callout } from '@blueprintjs/core';
import { useMemo } from 'react';
import { OrdersDocument, type PaymentStatus, RefusedNoticesDocument } from '../generated/orders/orders.js';
import { paymentTexts } from '../kit/payment/payment.texts.js';
import { useOrderFacts } from '../kit/payment/useOrderFacts.js';
import { StepUpProvider } from '../kit/proof/StepUpProvider.js';
import { FilterBar, SelectFilter, TextFilter } from '../kit/table/FilterBar.js';
import { ListPage } from '../kit/table/ListPage.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useListParams } from '../kit/table/useListParams.js';
import { useNumberedPages } from '../kit/table/useNumberedPages.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { orderColumns } from './orderColumns.js';
import { ordersTexts } from './orders.texts.js';

const statuses = ['OPEN', 'COMPLETED', 'EXPIRED'] as const satisfies readonly PaymentStatus[];
/** Another text is no trade number, and none is looked for. */
const tradeNumber = /^USR\d{1,16}NO[0-9A-Za-z]{6}\d{10}$/;

/** Everybody's orders of quota. */
export function OrdersPage() {
  const t = useText(ordersTexts);
  const words = useText(paymentTexts);
  const common = useText(commonTexts);
  const facts = useOrderFacts();
  const [params, setParams] = useListParams({ id: '', status: '' });
  const { page, size, paging } = useNumberedPages();
  const status = statuses.find((known) => known === params.status);
  const id = tradeNumber.test(params.id.trim()) ? params.id.trim() : undefined;
  const result = useQuery(OrdersDocument, {
    variables: { page, size, status, id },
    fetchPolicy: 'cache-and-network',
  });
  const { data: refused } = useQuery(RefusedNoticesDocument, { fetchPolicy: 'cache-and-network' });
  const refusals = (refused?.refusedNotices ?? []).reduce((sum, { count }) => sum + count, 0);
  const columns = useMemo(() => orderColumns(t, common, facts), [t, common, facts]);
  const isFiltered = id !== undefined || status !== undefined;

  return (
    <StepUpProvider>
      <ListPage
        title={t('title')}
        above={
          <>
            {refusals > 0 && <Callout intent="warning">{t('refused', { count: refusals })}</Callout>}
            <FilterBar active={[id, status].filter(Boolean).length} onReset={() => setParams({ id: '', status: '' })}>
              <TextFilter
                label={t('filter.id')}
                placeholder={t('filter.idHint')}
                value={params.id}
                onChange={(text) => setParams({ id: text })}
              />
              <SelectFilter
                label={t('filter.status')}
                value={status ?? ''}
                options={[
                  { value: '', label: common('all') },
                  ...statuses.map((known) => ({ value: known, label: words(`status.${known}`) })),
                ]}
                onChange={(chosen) => setParams({ status: chosen })}
              />
            </FilterBar>
          </>
        }
      >
        <ResourceTable
          label={t('title')}
          columns={columns}
          columnsKey="order-table-columns"
          rows={result.data?.payments.items}
          rowKey={({ id: number }) => number}
          result={result}
          empty={t(isFiltered ? 'empty.search' : 'empty')}
          paging={paging(result.data?.payments.total)}
        />
      </ListPage>
    </StepUpProvider>
  );
}
