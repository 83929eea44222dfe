import { Card, Tag } from '@blueprintjs/core';
import { useMemo } from 'react';
import { Link } from 'react-router-dom';
import type { OwnLineFragment } from '../generated/dashboard/ownUsage.js';
import { CutText } from '../kit/CutText.js';
import { formatDuration, formatExactly } from '../kit/figures.js';
import { QuotaText } from '../kit/QuotaText.js';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { formatExactClock } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';

interface RecentCallsProps {
  readonly lines: readonly OwnLineFragment[];
  /** Id of the newest line when one began to look; later ones light up. */
  readonly start: string | null;
}

export function RecentCalls({ lines, start }: RecentCallsProps) {
  const t = useText(dashboardTexts);
  const columns = useMemo<readonly Column<OwnLineFragment>[]>(
    () => [
      { id: 'time', header: t('own.time'), cell: ({ createdAt }) => formatExactClock(createdAt) },
      { id: 'token', header: t('own.token'), priority: 2, cell: ({ apiKeyName }) => apiKeyName },
      {
        id: 'model',
        header: t('column.model'),
        cell: ({ model, isStream, type }) => (
          <span className="own-model">
            <CutText text={model} />
            {isStream && <Tag minimal>{t('own.stream')}</Tag>}
            {type === 'ERROR' && (
              <Tag minimal intent="danger">
                {t('own.failed')}
              </Tag>
            )}
          </span>
        ),
      },
      {
        id: 'usage',
        header: t('own.usage'),
        align: 'end',
        priority: 2,
        cell: ({ promptTokens, completionTokens }) =>
          `${formatExactly(promptTokens)} / ${formatExactly(completionTokens)}`,
      },
      {
        id: 'duration',
        header: t('own.duration'),
        align: 'end',
        priority: 2,
        cell: ({ useTimeMs }) => formatDuration(useTimeMs),
      },
      {
        id: 'cost',
        header: t('own.cost'),
        align: 'end',
        pinned: true,
        cell: ({ quota }) => <QuotaText quota={quota} digits={6} />,
      },
    ],
    [t],
  );
  return (
    <Card className="panel">
      <h2 className="panel-title">
        {t('own.calls')}
        <Link to="/log" className="gauge-note">
          {t('own.all')}
        </Link>
      </h2>
      <ResourceTable
        label={t('own.calls')}
        columns={columns}
        rows={lines}
        rowKey={({ id }) => id}
        isFresh={({ id }) => start !== null && Number(id) > Number(start)}
        empty={t('own.none')}
      />
    </Card>
  );
}
