import { useQuery } from '@apollo/client/react';
import { Card, Classes } from '@blueprintjs/core';
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { type UsageDimension, UsageHistoryDocument, type UsageHistoryQuery } from '../generated/dashboard/history.js';
import { abbreviate } from '../kit/figures.js';
import { type LogOf, logLink } from '../kit/logLink.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { formatQuota } from '../kit/quota.js';
import { useQuotaUnits } from '../kit/SessionProvider.js';
import { useListParams } from '../kit/table/useListParams.js';
import { formatMinute, ownTimeZone } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { FailureHistory } from './FailureHistory.js';
import { HistoryFilters } from './HistoryFilters.js';
import { HistoryMargin } from './HistoryMargin.js';
import { HistoryShares, type Share } from './HistoryShares.js';
import { HistoryTimes } from './HistoryTimes.js';
import { HistoryTotals } from './HistoryTotals.js';
import { colourOf } from './historyColours.js';
import { clockOf, dimensionOf, endOf, historyDefaults, historyRangeOf } from './historyRange.js';

import { costOf, hasKnownCost, inDollars, marginOf } from './margin.js';

const StackedChart = lazy(async () => ({ default: (await import('./StackedChart.js')).StackedChart }));
const PercentileChart = lazy(async () => ({ default: (await import('./PercentileChart.js')).PercentileChart }));

type History = UsageHistoryQuery['usageHistory'];
type Sums = History['shares'][number]['pieces'][number];

const everyMs = 60_000;
const present = (): number => Math.floor(Date.now() / 1_000);

/** What of the log a share is; null: the log has no filter for it. */
function logOfShare(by: UsageDimension, { key, name }: History['shares'][number]): Partial<LogOf> | null {
  if (key === null || name === null || name === '') return null;
  switch (by) {
    case 'MODEL':
      return { model: name };
    case 'API_KEY':
      return { token: name };
    case 'GROUP':
      return { group: name };
    case 'CHANNEL':
      return { channel: key };
    case 'USER':
      return { user: name };
  }
}

/** A range of the past: of everybody for administrators, one's own for everybody else. */
export function UsageHistory({ admin }: { readonly admin: boolean }) {
  const t = useText(dashboardTexts);
  const units = useQuotaUnits();
  const [params, setParams] = useListParams(historyDefaults);
  const now = useNow();
  const range = useMemo(() => historyRangeOf(params, now), [params, now]);
  const by = dimensionOf(params, admin);
  const { name: _, ...times } = range;
  const result = useQuery(UsageHistoryDocument, {
    variables: { ...times, by, zone: ownTimeZone(), everyone: admin },
    fetchPolicy: 'cache-and-network',
  });
  // What was shown stays while the range moves on with the clock.
  const found = result.data ?? result.previousData;
  const money = useCallback((quota: number): string => formatQuota(quota, units, 4), [units]);
  const history = found?.usageHistory;
  const isCosted = hasKnownCost(history?.total);
  const starts = useMemo(() => history?.pieces.map(({ start }) => start) ?? [], [history]);
  const link = useCallback(
    (start: number, type?: LogOf['type']): string =>
      logLink({ from: start, to: endOf(starts, starts.indexOf(start), history?.to ?? range.to), type }),
    [starts, history, range],
  );
  const clock = clockOf(range.interval);

  const shares = history?.shares.map((share, index): Share => {
    const filter = logOfShare(by, share);
    return {
      key: share.key ?? '',
      name: share.key === null ? t('history.others') : nameOf(share, t('history.nobody')),
      colour: colourOf(index, share.key === null),
      total: share.total,
      part: history.total.quota === 0 ? 0 : share.total.quota / history.total.quota,
      link: (type) => (filter === null ? null : logLink({ from: history.from, to: history.to, type, ...filter })),
    };
  });
  const charts = [
    { title: t('history.cost'), of: ({ quota }: Sums) => quota, format: money, type: 'CONSUME' },
    { title: t('history.calls'), of: ({ requests }: Sums) => requests, format: abbreviate, type: 'CONSUME' },
    {
      title: t('history.tokens'),
      of: ({ promptTokens, completionTokens }: Sums) => promptTokens + completionTokens,
      format: abbreviate,
      type: 'CONSUME',
    },
    { title: t('history.errors'), of: ({ errors }: Sums) => errors, format: abbreviate, type: 'ERROR' },
    ...(isCosted
      ? ([
          { title: t('margin.cost'), of: costOf, format: inDollars, type: 'CONSUME' },
          { title: t('margin.margin'), of: marginOf, format: inDollars, type: 'CONSUME' },
        ] as const)
      : []),
  ] as const;
  const linkOfBar = (type: LogOf['type'], layer: number, piece: number): string => {
    const [from, share] = [starts[piece] ?? range.from, history?.shares[layer]];
    const to = endOf(starts, piece, history?.to ?? range.to);
    return logLink({ from, to, type, ...(share && logOfShare(by, share)) });
  };
  const span = `${formatMinute(range.earlier)} – ${formatMinute(range.earlierEnd)}`;

  return (
    <section className="history" aria-labelledby="history-title">
      <h2 id="history-title" className="section-title">
        {t('history.title')}
      </h2>
      <HistoryFilters range={range} by={by} admin={admin} onChange={setParams} />
      {result.error !== undefined && <QueryNotice {...result} />}
      {(result.error === undefined || found !== undefined) && (
        <>
          <HistoryTotals
            found={found}
            link={(type) => logLink({ from: history?.from ?? range.from, to: history?.to ?? range.to, type })}
            earlier={t('history.earlier', { span })}
            money={money}
          />
          {admin && <HistoryMargin found={found} money={money} />}
          <div className="dashboard-columns">
            {charts.map(({ title, of, format, type }) => (
              <ChartPanel key={title} title={title} isKnown={history !== undefined}>
                <StackedChart
                  title={t('history.chart', { figure: title, by: t(`by.${by}`) })}
                  starts={starts}
                  layers={(history?.shares ?? []).map((share, index) => ({
                    id: share.key ?? 'others',
                    name: shares?.[index]?.name ?? '',
                    colour: colourOf(index, share.key === null),
                    values: share.pieces.map(of),
                  }))}
                  clock={clock}
                  format={format}
                  linkOf={(layer, piece) => linkOfBar(type, layer, piece)}
                />
              </ChartPanel>
            ))}
            {(['latency', 'firstToken'] as const).map((figure) => (
              <ChartPanel key={figure} title={t(`history.${figure}`)} isKnown={history !== undefined}>
                <PercentileChart
                  title={t(`history.${figure}`)}
                  pieces={(history?.pieces ?? []).map((piece) => ({ start: piece.start, ...piece[figure] }))}
                  clock={clock}
                />
              </ChartPanel>
            ))}
          </div>
          <HistoryShares
            title={t('history.most')}
            first={t(`by.${by}`)}
            shares={shares}
            money={money}
            isCosted={isCosted}
          />
          <FailureHistory range={range} admin={admin} />
          <HistoryTimes pieces={history?.pieces ?? []} link={link} money={money} isCosted={isCosted} />
        </>
      )}
    </section>
  );
}

/** What it is called now, or was known by. */
const nameOf = ({ key, name }: History['shares'][number], nobody: string): string =>
  name !== null && name !== '' ? name : key === '0' || key === '' || key === null ? nobody : `#${key}`;

/** Unix seconds, of the minute: a range moves on with the clock. */
function useNow(): number {
  const [now, setNow] = useState(present);
  useEffect(() => {
    const moving = setInterval(() => setNow(present), everyMs);
    return () => clearInterval(moving);
  }, []);
  return now;
}

interface ChartPanelProps {
  readonly title: string;
  readonly isKnown: boolean;
  readonly children: ReactNode;
}

function ChartPanel({ title, isKnown, children }: ChartPanelProps) {
  const skeleton = <div className={`chart-place panel-chart ${Classes.SKELETON}`} />;
  return (
    <Card className="panel">
      <h3 className="panel-title">{title}</h3>
      {isKnown ? <Suspense fallback={skeleton}>{children}</Suspense> : skeleton}
    </Card>
  );
}
