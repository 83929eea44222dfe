import { Button, Card } from '@blueprintjs/core';
import { useMemo, useState } from 'react';
import { Link } from 'react-router-dom';
import type { UsageHistoryQuery } from '../generated/dashboard/history.js';
import { abbreviate, formatDurations } from '../kit/figures.js';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { formatMinute } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { marginColumns } from './margin.js';

type Piece = UsageHistoryQuery['usageHistory']['pieces'][number];

interface HistoryTimesProps {
  readonly pieces: readonly Piece[];
  /** Into the log, by when the piece begins. */
  readonly link: (start: number, type?: 'CONSUME' | 'ERROR') => string;
  readonly money: (quota: number) => string;
  /** Whether what providers charged is shown. */
  readonly isCosted: boolean;
}

/** The charts in figures, for who cannot see them or point at a bar. */
export function HistoryTimes({ pieces, link, money, isCosted }: HistoryTimesProps) {
  const t = useText(dashboardTexts);
  const [isOpen, setOpen] = useState(false);
  const columns = useMemo<readonly Column<Piece>[]>(
    () => [
      {
        id: 'start',
        header: t('own.time'),
        heading: true,
        cell: ({ start }) => <Link to={link(start)}>{formatMinute(start)}</Link>,
      },
      {
        id: 'cost',
        header: t('history.cost'),
        align: 'end',
        cell: ({ start, quota }) => <Link to={link(start, 'CONSUME')}>{money(quota)}</Link>,
      },
      ...(isCosted ? marginColumns<Piece>(t, (piece) => piece) : []),
      {
        id: 'calls',
        header: t('history.calls'),
        align: 'end',
        cell: ({ start, requests }) => <Link to={link(start, 'CONSUME')}>{abbreviate(requests)}</Link>,
      },
      {
        id: 'errors',
        header: t('history.errors'),
        align: 'end',
        cell: ({ start, errors }) =>
          errors > 0 ? <Link to={link(start, 'ERROR')}>{abbreviate(errors)}</Link> : abbreviate(errors),
      },
      {
        id: 'tokens',
        header: t('history.tokens'),
        align: 'end',
        priority: 2,
        cell: ({ start, promptTokens, completionTokens }) => (
          <Link to={link(start, 'CONSUME')}>{abbreviate(promptTokens + completionTokens)}</Link>
        ),
      },
      {
        id: 'firstToken',
        header: t('column.firstToken'),
        align: 'end',
        priority: 3,
        cell: ({ firstToken }) => formatDurations(firstToken.p50, firstToken.p95),
      },
      {
        id: 'duration',
        header: t('column.duration'),
        align: 'end',
        priority: 3,
        cell: ({ latency }) => formatDurations(latency.p50, latency.p95),
      },
    ],
    [t, link, money, isCosted],
  );
  return (
    <Card className="panel">
      <h3 className="panel-title">
        {t('history.byTime')}
        <Button
          variant="minimal"
          size="small"
          text={t(isOpen ? 'history.hide' : 'history.show')}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        />
      </h3>
      {isOpen && (
        <ResourceTable
          label={t('history.byTime')}
          columns={columns}
          rows={[...pieces].reverse()}
          rowKey={({ start }) => String(start)}
          empty={t('history.none')}
        />
      )}
    </Card>
  );
}
