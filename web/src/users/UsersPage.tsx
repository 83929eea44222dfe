import './users.css';
import { useQuery } from '@apollo/client/react';
import { Add } from '@blueprintjs/icons';
import { useMemo } from 'react';
import { UserGroupsDocument, type UserSort, UsersDocument } from '../generated/users/users.js';
import { StepUpProvider } from '../kit/proof/StepUpProvider.js';
import { useSignedIn } from '../kit/SessionProvider.js';
import { DrawerLink } from '../kit/table/DrawerLink.js';
import { EmptyList } from '../kit/table/EmptyList.js';
import { FilterBar, NameFilter, TextFilter } from '../kit/table/FilterBar.js';
import { ListPage } from '../kit/table/ListPage.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useListParams } from '../kit/table/useListParams.js';
import { useNumberedPages } from '../kit/table/useNumberedPages.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { AdjustQuotaDialog } from './AdjustQuotaDialog.js';
import { isDeleted, mayOpen } from './mayManage.js';
import { UserDrawer } from './UserDrawer.js';
import { userColumns } from './userColumns.js';
import { usersTexts } from './users.texts.js';

const sorts = [
  'ID_DESC',
  'QUOTA_ASC',
  'QUOTA_DESC',
  'REQUEST_COUNT_ASC',
  'REQUEST_COUNT_DESC',
  'USED_QUOTA_ASC',
  'USED_QUOTA_DESC',
] as const satisfies readonly UserSort[];

export function UsersPage() {
  const t = useText(usersTexts);
  const common = useText(commonTexts);
  const viewer = useSignedIn();
  const [params, setParams] = useListParams({ keyword: '', group: '', sort: 'QUOTA_DESC' });
  const { page, size, paging } = useNumberedPages();
  const sort = sorts.find((known) => known === params.sort) ?? 'QUOTA_DESC';
  const { keyword, group } = params;
  const result = useQuery(UsersDocument, {
    variables: { page, size, sort, keyword, group },
    fetchPolicy: 'cache-and-network',
  });
  const { data: known } = useQuery(UserGroupsDocument);
  const columns = useMemo(() => userColumns(t, common), [t, common]);

  return (
    <StepUpProvider>
      <ListPage
        title={t('title')}
        actions={
          <DrawerLink open="new" intent="primary" icon={<Add />}>
            {t('new')}
          </DrawerLink>
        }
        above={
          <FilterBar
            active={[keyword, group].filter((text) => text !== '').length}
            onReset={() => setParams({ keyword: '', group: '' })}
          >
            <TextFilter
              label={t('filter.keyword')}
              placeholder={t('filter.keywordHint')}
              value={keyword}
              onChange={(text) => setParams({ keyword: text })}
            />
            <NameFilter
              label={t('filter.group')}
              value={group}
              names={known?.groups ?? []}
              onChange={(name) => setParams({ group: name })}
            />
          </FilterBar>
        }
      >
        <ResourceTable
          label={t('title')}
          columns={columns}
          columnsKey="users-table-columns"
          rows={result.data?.users.items}
          rowKey={({ id }) => id}
          result={result}
          opens={(user) => (mayOpen(viewer, user) ? user.id : null)}
          isMuted={isDeleted}
          sort={{ value: sort, onSort: (value) => setParams({ sort: value }) }}
          empty={
            <EmptyList text={t('empty')} to="/user">
              {t('empty.all')}
            </EmptyList>
          }
          paging={paging(result.data?.users.total)}
        />
        <UserDrawer />
        <AdjustQuotaDialog />
      </ListPage>
    </StepUpProvider>
  );
}
