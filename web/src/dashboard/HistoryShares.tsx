import { Card } from '@blueprintjs/core';
import { useMemo } from 'react';
import type { UsageHistoryQuery } from '../generated/dashboard/history.js';
import { abbreviate, formatDurations, formatPercent } from '../kit/figures.js';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { marginColumns } from './margin.js';
import { linked, ShareName } from './ShareName.js';

export interface Share {
  readonly key: string;
  readonly name: string;
  readonly colour: string;
  readonly total: UsageHistoryQuery['usageHistory']['shares'][number]['total'];
  /** Of all that was spent: 0 to 1. */
  readonly part: number;
  /** Into the log; null: the log cannot be asked for it. */
  readonly link: (type?: 'CONSUME' | 'ERROR') => string | null;
}

interface HistorySharesProps {
  readonly title: string;
  readonly first: string;
  /** undefined: not known yet. */
  readonly shares: readonly Share[] | undefined;
  readonly money: (quota: number) => string;
  /** Whether what providers charged is shown. */
  readonly isCosted: boolean;
}

/** Who or what there was most of; also says what the colours of the charts mean. */
export function HistoryShares({ title, first, shares, money, isCosted }: HistorySharesProps) {
  const t = useText(dashboardTexts);
  const columns = useMemo<readonly Column<Share>[]>(
    () => [
      {
        id: 'name',
        header: first,
        heading: true,
        cell: ({ name, colour, link }) => <ShareName name={name} colour={colour} to={link()} />,
      },
      {
        id: 'cost',
        header: t('history.cost'),
        align: 'end',
        cell: ({ total, link }) => linked(link('CONSUME'), money(total.quota)),
      },
      ...(isCosted ? marginColumns<Share>(t, ({ total }) => total) : []),
      { id: 'part', header: t('history.part'), align: 'end', priority: 2, cell: ({ part }) => formatPercent(part) },
      {
        id: 'calls',
        header: t('history.calls'),
        align: 'end',
        cell: ({ total, link }) => linked(link('CONSUME'), abbreviate(total.requests)),
      },
      {
        id: 'errors',
        header: t('history.errors'),
        align: 'end',
        cell: ({ total, link }) => linked(total.errors > 0 ? link('ERROR') : null, abbreviate(total.errors)),
      },
      {
        id: 'tokens',
        header: t('history.tokens'),
        align: 'end',
        priority: 2,
        cell: ({ total, link }) => linked(link('CONSUME'), abbreviate(total.promptTokens + total.completionTokens)),
      },
      {
        id: 'firstToken',
        header: t('column.firstToken'),
        align: 'end',
        priority: 3,
        cell: ({ total }) => formatDurations(total.firstToken.p50, total.firstToken.p95),
      },
      {
        id: 'duration',
        header: t('column.duration'),
        align: 'end',
        priority: 3,
        cell: ({ total }) => formatDurations(total.latency.p50, total.latency.p95),
      },
    ],
    [t, first, money, isCosted],
  );
  return (
    <Card className="panel">
      <h3 className="panel-title">{title}</h3>
      <ResourceTable
        label={title}
        columns={columns}
        rows={shares}
        rowKey={({ key }) => key}
        empty={t('history.none')}
      />
    </Card>
  );
}
