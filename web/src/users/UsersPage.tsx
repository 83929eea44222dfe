import './users.css';
import { useQuery } from '@apollo/client/react';
import { Add } from '@blueprintjs/icons';
import { useMemo } from 'react';
import { UserGroupsDocument, type UserSort, UsersDocument } from '../generated/users/users.js';
import { useSignedIn } from '../shared/session.js';
import { DrawerLink } from '../shared/table/DrawerLink.js';
import { FilterBar, SelectFilter, TextFilter } from '../shared/table/FilterBar.js';
import { ListPage } from '../shared/table/ListPage.js';
import { useOpenItem } from '../shared/table/openItem.js';
import { ResourceTable } from '../shared/table/ResourceTable.js';
import { useListParams } from '../shared/table/useListParams.js';
import { usePageSize } from '../shared/table/usePageSize.js';
import { commonTexts } from '../shared/words/common.texts.js';
import { useText } from '../shared/words/i18n.js';
import { AdjustQuotaDialog } from './AdjustQuotaDialog.js';
import { isDeleted } from './mayManage.js';
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
  const [params, setParams] = useListParams({ page: 1, keyword: '', group: '', sort: 'QUOTA_DESC' });
  const [size, setSize] = usePageSize();
  const { open } = useOpenItem();
  const sort = sorts.find((known) => known === params.sort) ?? 'QUOTA_DESC';
  const page = Math.max(1, Math.trunc(params.page));
  const { keyword, group } = params;
  const result = useQuery(UsersDocument, {
    variables: { page, size, sort, keyword, group },
    fetchPolicy: 'cache-and-network',
  });
  const { data: known } = useQuery(UserGroupsDocument);
  const columns = useMemo(() => userColumns(t, common, viewer), [t, common, viewer]);
  const groups = [
    { value: '', label: common('all') },
    ...(known?.groups ?? []).map((name) => ({ value: name, label: name })),
  ];

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
          active={[keyword, group].filter((text) => text !== '').length}
          onReset={() => setParams({ keyword: '', group: '', page: 1 })}
        >
          <TextFilter
            label={t('filter.keyword')}
            placeholder={t('filter.keywordHint')}
            value={keyword}
            onChange={(text) => setParams({ keyword: text, page: 1 })}
          />
          <SelectFilter
            label={t('filter.group')}
            value={group}
            options={groups}
            onChange={(name) => setParams({ group: name, page: 1 })}
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
        isOpen={({ id }) => open === id}
        isMuted={isDeleted}
        sort={{ value: sort, onSort: (value) => setParams({ sort: value, page: 1 }) }}
        empty={t('empty')}
        paging={{
          kind: 'numbered',
          page,
          total: result.data?.users.total,
          size,
          onPage: (wanted) => setParams({ page: wanted }),
          onSize: (wanted) => {
            setSize(wanted);
            setParams({ page: 1 });
          },
        }}
      />
      <UserDrawer />
      <AdjustQuotaDialog />
    </ListPage>
  );
}
