import { useQuery } from '@apollo/client/react';
import { Add } from '@blueprintjs/icons';
import { useMemo } from 'react';
import { RedemptionCodesDocument, type RedemptionStatus } from '../generated/redemption/redemption.js';
import { DrawerLink } from '../kit/table/DrawerLink.js';
import { EmptyList } from '../kit/table/EmptyList.js';
import { FilterBar, SelectFilter, TextFilter } from '../kit/table/FilterBar.js';
import { ListPage } from '../kit/table/ListPage.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useListParams } from '../kit/table/useListParams.js';
import { useNumberedPages } from '../kit/table/useNumberedPages.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { RedemptionDrawer } from './RedemptionDrawer.js';
import { redemptionTexts } from './redemption.texts.js';
import { redemptionColumns } from './redemptionColumns.js';

const statuses = ['UNUSED', 'DISABLED', 'USED'] as const satisfies readonly RedemptionStatus[];

export function RedemptionPage() {
  const t = useText(redemptionTexts);
  const common = useText(commonTexts);
  const [params, setParams] = useListParams({ keyword: '', status: '' });
  const { page, size, paging } = useNumberedPages();
  const { keyword } = params;
  const status = statuses.find((known) => known === params.status);
  const result = useQuery(RedemptionCodesDocument, {
    variables: { page, size, keyword, status },
    fetchPolicy: 'cache-and-network',
  });
  const columns = useMemo(() => redemptionColumns(t, common), [t, common]);
  const isFiltered = keyword !== '' || status !== undefined;

  return (
    <ListPage
      title={t('title')}
      actions={
        <DrawerLink open="new" intent="primary" icon={<Add />}>
          {t('new')}
        </DrawerLink>
      }
      above={
        <FilterBar
          active={[keyword, status].filter(Boolean).length}
          onReset={() => setParams({ keyword: '', status: '' })}
        >
          <TextFilter
            label={t('filter.keyword')}
            placeholder={t('filter.keywordHint')}
            value={keyword}
            onChange={(text) => setParams({ keyword: text })}
          />
          <SelectFilter
            label={t('filter.status')}
            value={status ?? ''}
            options={[
              { value: '', label: common('all') },
              ...statuses.map((known) => ({ value: known, label: t(`status.${known}`) })),
            ]}
            onChange={(chosen) => setParams({ status: chosen })}
          />
        </FilterBar>
      }
    >
      <ResourceTable
        label={t('title')}
        columns={columns}
        columnsKey="redemption-table-columns"
        rows={result.data?.redemptionCodes.items}
        rowKey={({ id }) => id}
        result={result}
        opens={({ id, status: has }) => (has === 'UNUSED' ? id : null)}
        empty={
          isFiltered ? (
            t('empty.search')
          ) : (
            <EmptyList text={t('empty')} hint={t('empty.hint')} to="?open=new">
              {t('empty.add')}
            </EmptyList>
          )
        }
        paging={paging(result.data?.redemptionCodes.total)}
      />
      <RedemptionDrawer />
    </ListPage>
  );
}
