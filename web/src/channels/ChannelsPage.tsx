import './channels.css';
import { useQuery } from '@apollo/client/react';
import { Button, Menu, MenuDivider, MenuItem, PopoverNext, Switch } from '@blueprintjs/core';
import { Add, Download, More, Pulse, Refresh, Trash, Upload } from '@blueprintjs/icons';
import { lazy, Suspense, useMemo, useState } from 'react';
import {
  ChannelChoicesDocument,
  type ChannelStatus,
  ChannelsByTagDocument,
  ChannelsDocument,
} from '../generated/channels/channels.js';
import { useChannelHealth } from '../kit/channel/useChannelHealth.js';
import { useRegained } from '../kit/live/liveConnection.js';
import { useRemembered } from '../kit/remembered.js';
import { renewLists } from '../kit/renewLists.js';
import { DrawerLink } from '../kit/table/DrawerLink.js';
import { EmptyList } from '../kit/table/EmptyList.js';
import { ListPage } from '../kit/table/ListPage.js';
import { itemOf, useOpenItem } from '../kit/table/openItem.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useListParams } from '../kit/table/useListParams.js';
import { useNumberedPages } from '../kit/table/useNumberedPages.js';
import type { PageSize } from '../kit/table/usePageSize.js';
import { WhenOpened } from '../kit/table/WhenOpened.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { ChannelFilters } from './ChannelFilters.js';
import { channelColumns } from './channelColumns.js';
import { channelsTexts } from './channels.texts.js';
import { TestRunProgress } from './TestRunProgress.js';
import { tagColumns } from './tagColumns.js';
import { useChannelOrders } from './useChannelOrders.js';

const SelectionActions = lazy(async () => ({ default: (await import('./SelectionActions.js')).SelectionActions }));
const ChannelDrawer = lazy(async () => ({ default: (await import('./ChannelDrawer.js')).ChannelDrawer }));
const TagDrawer = lazy(async () => ({ default: (await import('./TagDrawer.js')).TagDrawer }));
const TestDialog = lazy(async () => ({ default: (await import('./TestDialog.js')).TestDialog }));
const ImportDialog = lazy(async () => ({ default: (await import('./ImportDialog.js')).ImportDialog }));

const statuses = ['ENABLED', 'DISABLED', 'AUTO_DISABLED'] as const satisfies readonly ChannelStatus[];
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';

/** Every tag comes with all its channels: longer pages would cost the server more than it allows an operation. */
const maxTags: PageSize = 20;

const orNone = (text: string): string | null => (text === '' ? null : text);

export function ChannelsPage() {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  const orders = useChannelOrders();
  const [params, setParams] = useListParams({ keyword: '', group: '', model: '', status: '', test: '' });
  const [byId, setById] = useRemembered('channels-by-id', false, isFlag);
  const [byTag, setByTag] = useRemembered('channels-by-tag', false, isFlag);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());

  const { page, size, paging } = useNumberedPages(byTag ? maxTags : undefined);
  const variables = {
    page,
    size,
    sort: byId ? 'ID' : 'PRIORITY',
    filter: {
      keyword: orNone(params.keyword),
      group: orNone(params.group),
      model: orNone(params.model),
      status: statuses.find((status) => status === params.status) ?? null,
      testFailed: params.test === 'failed' ? true : null,
    },
  } as const;
  const list = useQuery(ChannelsDocument, { variables, skip: byTag, fetchPolicy: 'cache-and-network' });
  const tags = useQuery(ChannelsByTagDocument, { variables, skip: !byTag, fetchPolicy: 'cache-and-network' });
  const { data: known } = useQuery(ChannelChoicesDocument);
  const choices = useMemo(
    () => new Map((known?.channelTypes ?? []).map((choice) => [choice.type, choice])),
    [known?.channelTypes],
  );
  const columns = useMemo(() => channelColumns({ t, common, choices, orders }), [t, common, choices, orders]);
  const columnsOfTags = useMemo(() => tagColumns({ t, common, choices, orders }), [t, common, choices, orders]);
  // Rows change in place, by what the change brings along; only who comes and goes moves others.
  useChannelHealth(({ kind }, client) => {
    if (kind === 'ADDED' || kind === 'REMOVED') void renewLists(client, 'channels');
  });

  // What came and went while the connection was lost, nobody said.
  useRegained(() => void renewLists(list.client, 'channels'));

  const { show } = useOpenItem();
  const ids = [...selected];
  const clear = (): void => setSelected(new Set());
  const toolbar =
    ids.length > 0 && !byTag ? (
      <Suspense>
        <SelectionActions ids={ids} orders={orders} onDone={clear} />
      </Suspense>
    ) : (
      <>
        <Switch
          inline
          label={t('view.byId')}
          checked={byId}
          onChange={({ currentTarget }) => setById(currentTarget.checked)}
        />
        <Switch
          inline
          label={t('view.byTag')}
          checked={byTag}
          onChange={({ currentTarget }) => {
            setByTag(currentTarget.checked);
            setParams({});
            clear();
          }}
        />
      </>
    );

  return (
    <ListPage
      title={t('title')}
      actions={
        <>
          <DrawerLink open="new" intent="primary" icon={<Add />}>
            {t('new')}
          </DrawerLink>
          <Button
            icon={<Pulse />}
            text={t('action.testAll')}
            title={t('action.testAllHint')}
            onClick={() => void orders.testAll()}
          />
          <PopoverNext
            placement="bottom-end"
            content={
              <Menu>
                <MenuItem
                  icon={<Refresh />}
                  text={t('action.updateBalances')}
                  onClick={() => void orders.updateBalances()}
                />
                <MenuItem
                  icon={<Download />}
                  text={t('action.export')}
                  onClick={() => void orders.exportToFile(null)}
                />
                <MenuItem icon={<Upload />} text={t('action.import')} onClick={() => show('import')} />
                <MenuDivider />
                <MenuItem
                  icon={<Trash />}
                  intent="danger"
                  text={t('action.deleteDisabled')}
                  onClick={() => void orders.removeDisabled()}
                />
              </Menu>
            }
          >
            <Button icon={<More />} title={t('view.more')} aria-label={t('view.more')} />
          </PopoverNext>
        </>
      }
      above={
        <>
          <ChannelFilters value={params} groups={known?.groups ?? []} statuses={statuses} onChange={setParams} />
          <TestRunProgress />
        </>
      }
    >
      {byTag ? (
        <ResourceTable
          key="tags"
          label={t('title')}
          columns={columnsOfTags}
          rows={tags.data?.channelsByTag.items}
          rowKey={({ tag }) => tag}
          opens={({ tag }) => itemOf('tag', tag)}
          result={tags}
          toolbar={toolbar}
          empty={t('emptyTags')}
          paging={paging(tags.data?.channelsByTag.total)}
          detail={({ tag, channels }) => (
            <ResourceTable
              label={tag}
              columns={columns}
              rows={channels}
              rowKey={({ id }) => id}
              opens={({ id }) => id}
            />
          )}
        />
      ) : (
        <ResourceTable
          key="channels"
          label={t('title')}
          columns={columns}
          columnsKey="channels-table-columns"
          rows={list.data?.channels.items}
          rowKey={({ id }) => id}
          result={list}
          toolbar={toolbar}
          opens={({ id }) => id}
          empty={
            <EmptyList text={t('empty')} hint={t('empty.hint')} to="?open=new">
              {t('empty.add')}
            </EmptyList>
          }
          selection={{ selected, onChange: setSelected, keyOf: ({ id }) => id, nameOf: ({ name }) => name }}
          paging={paging(list.data?.channels.total)}
        />
      )}
      <WhenOpened>
        <ChannelDrawer choices={known} orders={orders} />
        <TagDrawer groups={known?.groups ?? []} enabledModels={known?.enabledModels ?? []} />
        <TestDialog orders={orders} />
        <ImportDialog />
      </WhenOpened>
    </ListPage>
  );
}
