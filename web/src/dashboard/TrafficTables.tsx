import { Card } from '@blueprintjs/core';
import { useMemo } from 'react';
import type { TotalFiguresFragment } from '../generated/dashboard/traffic.js';
import { abbreviate, formatDurations, formatPercent } from '../kit/figures.js';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import type { Traffic } from './useTrafficHistory.js';

interface Row extends TotalFiguresFragment {
  readonly key: string;
  readonly name: string;
}

interface TrafficTablesProps {
  readonly traffic: Traffic | null;
  readonly money: (quota: number) => string;
}

export function TrafficTables({ traffic, money }: TrafficTablesProps) {
  const t = useText(dashboardTexts);
  const models = traffic?.models.map((figures) => ({ ...figures, key: figures.model, name: figures.model }));
  const channels = traffic?.channels.map((figures) => ({
    ...figures,
    key: figures.channelId,
    name: figures.channelName ?? t('channel.gone', { id: figures.channelId }),
  }));
  return (
    <div className="dashboard-columns wide-columns">
      <TrafficTable title={t('traffic.models')} first={t('column.model')} rows={models} money={money} />
      <TrafficTable title={t('traffic.channels')} first={t('column.channel')} rows={channels} money={money} />
    </div>
  );
}

interface TrafficTableProps {
  readonly title: string;
  readonly first: string;
  readonly rows: readonly Row[] | undefined;
  readonly money: (quota: number) => string;
}

/** Sorted by name: rows that change places every second cannot be read. */
function TrafficTable({ title, first, rows, money }: TrafficTableProps) {
  const t = useText(dashboardTexts);
  const columns = useMemo<readonly Column<Row>[]>(
    () => [
      { id: 'name', header: first, heading: true, cell: ({ name }) => name },
      {
        id: 'requests',
        header: t('column.requests'),
        align: 'end',
        cell: ({ requestsPerMinute }) => abbreviate(requestsPerMinute),
      },
      {
        id: 'tokens',
        header: t('column.tokens'),
        align: 'end',
        cell: ({ tokensPerMinute }) => abbreviate(tokensPerMinute),
      },
      { id: 'spend', header: t('column.spend'), align: 'end', cell: ({ quotaPerMinute }) => money(quotaPerMinute) },
      {
        id: 'errorRate',
        header: t('column.errorRate'),
        align: 'end',
        cell: ({ errorRate }) => (
          <span className={errorRate > 0 ? 'figure-bad' : undefined}>{formatPercent(errorRate)}</span>
        ),
      },
      {
        id: 'firstToken',
        header: t('column.firstToken'),
        align: 'end',
        priority: 2,
        cell: ({ firstTokenP50Ms, firstTokenP95Ms }) => formatDurations(firstTokenP50Ms, firstTokenP95Ms),
      },
      {
        id: 'duration',
        header: t('column.duration'),
        align: 'end',
        priority: 3,
        cell: ({ latencyP50Ms, latencyP95Ms }) => formatDurations(latencyP50Ms, latencyP95Ms),
      },
    ],
    [t, first, money],
  );
  const sorted = rows && [...rows].sort((one, other) => one.key.localeCompare(other.key, 'en', { numeric: true }));
  return (
    <Card className="panel">
      <h2 className="panel-title">{title}</h2>
      <ResourceTable
        label={title}
        columns={columns}
        rows={sorted}
        rowKey={({ key }) => key}
        empty={t('traffic.none')}
      />
    </Card>
  );
}
