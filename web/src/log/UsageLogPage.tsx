import { useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { Download, Pause, Play, Refresh } from '@blueprintjs/icons';
import { lazy, Suspense, type SyntheticEvent, useCallback, useMemo, useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { UsageLogDocument } from '../generated/log/log.js';
import { useExports } from '../kit/export/useExports.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import { isAdmin, useSignedIn } from '../kit/SessionProvider.js';
import { SkeletonLines } from '../kit/Skeleton.js';
import { EmptyList } from '../kit/table/EmptyList.js';
import { ListPage } from '../kit/table/ListPage.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useKeysetPages } from '../kit/table/useKeysetPages.js';
import { useListParams } from '../kit/table/useListParams.js';
import { WhenOpened } from '../kit/table/WhenOpened.js';
import { ownTimeZone } from '../kit/time.js';
import { useHistory } from '../kit/useHistory.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import './log.css';
import { LogFigures } from './LogFigures.js';
import { LogFilters } from './LogFilters.js';
import { logTexts } from './log.texts.js';
import { exportQueryOf, type LogParams, logDefaults, logFilterOf, rangeOf } from './logParams.js';
import { callAddress, requestIdIn } from './requestId.js';
import { useLiveLines } from './useLiveLines.js';
import { useLogColumns } from './useLogColumns.js';

// What only an opened line or user needs.
const LogLineDetail = lazy(async () => ({ default: (await import('./LogLineDetail.js')).LogLineDetail }));
const LogUserDrawer = lazy(async () => ({ default: (await import('./LogUserDrawer.js')).LogUserDrawer }));

export function UsageLogPage() {
  const t = useText(logTexts);
  const common = useText(commonTexts);
  const admin = isAdmin(useSignedIn());
  const [params, setParams] = useListParams(logDefaults);
  const { filter, range, isOpen, lookAgain } = useLogFilter(params, admin);
  const { after, size, isNewest, paging } = useKeysetPages();
  const { warning, isWhole } = useHistory();
  // Lines are only ever added at the end of time.
  const isLive = isNewest && isOpen && isWhole;
  const columns = useLogColumns(admin);
  const { isReading, read } = useReading();
  const { isOnRows, ...onRows } = useOnRows();
  const [isPaused, setPaused] = useState(false);
  const { underWay, problem, download } = useExports();

  const variables = { filter, everyone: admin, admin, first: size, after };
  const { data, loading, error, refetch } = useQuery(UsageLogDocument, {
    variables,
    // Pages behind the newest do not change; the newest may have, while nobody looked.
    fetchPolicy: isNewest ? 'cache-and-network' : 'cache-first',
  });
  const log = data?.usageLog;
  const live = useLiveLines({
    variables,
    after: isLive && !loading ? (log?.pageInfo.startCursor ?? null) : null,
    isHeld: isReading || isOnRows || isPaused,
    refetch,
  });
  const navigate = useNavigate();
  // Whoever has the id of a request, or the error that quotes it, is led to it, whatever field it was put into.
  const look = (patch: Partial<LogParams>): void => {
    const requestId = Object.values(patch).map(String).map(requestIdIn).find(Boolean);
    if (requestId) void navigate(callAddress(requestId));
    else setParams(patch);
  };
  const refresh = (): void => {
    lookAgain();
    void refetch();
  };
  const rows = useMemo(() => log?.edges.map(({ node }) => node), [log]);

  return (
    <ListPage
      title={t('title')}
      warning={warning}
      actions={
        <>
          {isLive && (
            <Button
              icon={isPaused ? <Play /> : <Pause />}
              text={t(isPaused ? 'resume' : 'pause')}
              title={t('pause.hint')}
              active={isPaused}
              onClick={() => setPaused(!isPaused)}
            />
          )}
          <Button
            icon={<Download />}
            text={t('export')}
            loading={underWay.has('log')}
            onClick={() => void download('log', exportQueryOf(filter, admin, ownTimeZone()))}
          />
          <Button icon={<Refresh />} text={common('refresh')} onClick={refresh} />
        </>
      }
      above={
        <>
          <FormProblem text={problem} />
          <LogFigures filter={filter} everyone={admin} live={isLive} />
          <LogFilters params={params} range={range} admin={admin} onChange={look} />
        </>
      }
    >
      <div className="log-table" {...onRows}>
        <ResourceTable
          label={t('title')}
          columnsKey="logs-table-columns"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          result={{ loading: loading && rows === undefined, error, refetch }}
          paging={paging(log?.pageInfo)}
          detail={({ id }) => (
            <Suspense fallback={<SkeletonLines />}>
              <LogLineDetail id={id} admin={admin} onRead={read} />
            </Suspense>
          )}
          isFresh={({ id }) => live.fresh.has(id)}
          fresh={{ count: live.waiting, onShow: live.showWaiting }}
          empty={
            <EmptyList text={t('empty')} hint={t('empty.hint')} to="/token">
              {t('empty.tokens')}
            </EmptyList>
          }
        />
      </div>
      <WhenOpened>
        <LogUserDrawer />
      </WhenOpened>
    </ListPage>
  );
}

/** The filter of the parameters, the same until they change: "the last hour" is not another one at every moment. */
function useLogFilter(params: LogParams, admin: boolean) {
  const [looks, setLooks] = useState(0);
  const key = JSON.stringify(params);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the parameters, which are new each time
  const found = useMemo(() => {
    const now = new Date();
    const range = rangeOf(params, now);
    const isOpen = range.to === null || range.to * 1000 > now.getTime();
    return { filter: logFilterOf(params, now, admin), range, isOpen };
  }, [key, looks, admin]);
  return { ...found, lookAgain: () => setLooks(looks + 1) };
}

/** Whether lines are open for reading. */
function useReading() {
  const [open, setOpen] = useState(0);
  const read = useCallback(() => {
    setOpen((before) => before + 1);
    return () => setOpen((before) => before - 1);
  }, []);
  return { isReading: open > 0, read };
}

const isWithin = ({ target }: SyntheticEvent, selector: string): boolean =>
  target instanceof Element && target.closest(selector) !== null;

/** Whether the pointer or the focus is on a row: what one looks at must not slip away. */
function useOnRows() {
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  return {
    isOnRows: pointed || focused,
    // The offer of new rows pushes the others down: what is under the pointer then is the head, or the offer itself.
    onPointerOver: (event: SyntheticEvent) => setPointed(isWithin(event, 'table, .fresh-rows')),
    onPointerLeave: () => setPointed(false),
    onFocus: (event: SyntheticEvent) => setFocused(isWithin(event, 'tbody')),
    onBlur: () => setFocused(false),
  };
}
