import './tasks.css';
import { useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { Refresh } from '@blueprintjs/icons';
import { useMemo, useState } from 'react';
import { TasksDocument } from '../generated/tasks/tasks.js';
import { LiveBadge } from '../kit/live/LiveBadge.js';
import { isAdmin, useSignedIn, useStatus } from '../kit/SessionProvider.js';
import { EmptyList } from '../kit/table/EmptyList.js';
import { ListPage } from '../kit/table/ListPage.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useKeysetPages } from '../kit/table/useKeysetPages.js';
import { useListParams } from '../kit/table/useListParams.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { OpenedTask } from './OpenedTask.js';
import { TaskFilters } from './TaskFilters.js';
import { taskColumns } from './taskColumns.js';
import { type TaskList, type TaskParams, taskDefaults, taskFilterOf, taskRangeOf } from './taskParams.js';
import { tasksTexts } from './tasks.texts.js';
import { useLiveTasks } from './useLiveTasks.js';

/** What Midjourney has drawn, or is to draw. */
export const DrawingLogPage = () => <TaskListPage list="drawing" />;

/** Music and videos. */
export const TaskLogPage = () => <TaskListPage list="task" />;

function TaskListPage({ list }: { readonly list: TaskList }) {
  const t = useText(tasksTexts);
  const common = useText(commonTexts);
  const admin = isAdmin(useSignedIn());
  const { drawingCallback } = useStatus();
  const [params, setParams] = useListParams(taskDefaults);
  const { filter, range, lookAgain } = useTaskFilter(params, list, admin);
  const { after, size, isNewest, paging } = useKeysetPages();
  const columns = useMemo(() => taskColumns(list, admin, t), [list, admin, t]);

  const { data, loading, error, refetch } = useQuery(TasksDocument, {
    variables: { filter, everyone: admin, admin, first: size, after },
    fetchPolicy: 'cache-and-network',
  });
  const tasks = data?.tasks;
  const rows = useMemo(() => tasks?.edges.map(({ node }) => node), [tasks]);
  useLiveTasks({ admin, rows, list, isNewest, refetch });
  const refresh = (): void => {
    lookAgain();
    void refetch();
  };

  return (
    <ListPage
      title={t(`${list}.title`)}
      warning={list === 'drawing' && admin && !drawingCallback ? t('drawing.callback') : undefined}
      actions={
        <>
          <LiveBadge />
          <Button icon={<Refresh />} text={common('refresh')} onClick={refresh} />
        </>
      }
      above={<TaskFilters params={params} range={range} admin={admin} onChange={setParams} />}
    >
      <div className="task-table">
        <ResourceTable
          label={t(`${list}.title`)}
          columnsKey={`${list}-columns`}
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          opens={({ id }) => `record-${id}`}
          result={{ loading: loading && rows === undefined, error, refetch }}
          paging={paging(tasks?.pageInfo)}
          empty={
            <EmptyList text={t(`${list}.empty`)} hint={t(`${list}.hint`)} to="/token">
              {t('toTokens')}
            </EmptyList>
          }
        />
      </div>
      <OpenedTask admin={admin} />
    </ListPage>
  );
}

/** The filter of the parameters, the same until they change: "the last thirty days" begin with the look at them. */
function useTaskFilter(params: TaskParams, list: TaskList, admin: boolean) {
  const [looks, setLooks] = useState(0);
  const key = JSON.stringify(params);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the parameters, which are new each time
  const found = useMemo(() => {
    const range = taskRangeOf(params, list, new Date());
    return { range, filter: taskFilterOf(params, range, list, admin) };
  }, [key, looks, list, admin]);
  return { ...found, lookAgain: () => setLooks(looks + 1) };
}
