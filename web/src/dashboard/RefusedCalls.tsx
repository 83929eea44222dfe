import { Card } from '@blueprintjs/core';
import { useMemo } from 'react';
import { Link } from 'react-router-dom';
import { formatExactly } from '../kit/figures.js';
import { refusalTexts } from '../kit/refusal/refusal.texts.js';
import { causeOf } from '../kit/refusal/refusals.js';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import type { Traffic } from './useTrafficHistory.js';

type Refused = Traffic['refused'][number];

/** Calls that got nowhere, by what they were answered: in none of the figures above. */
export function RefusedCalls({ refused }: Pick<Traffic, 'refused'>) {
  const t = useText(dashboardTexts);
  const refusal = useText(refusalTexts);
  const columns = useMemo<readonly Column<Refused>[]>(
    () => [
      {
        id: 'cause',
        header: t('refused.cause'),
        heading: true,
        cell: ({ status, code }) => (
          <Link to={`/log?range=hour&code=${encodeURIComponent(code)}`}>{refusal(causeOf(status, code))}</Link>
        ),
      },
      {
        id: 'code',
        header: t('refused.code'),
        cell: ({ status, code }) => (
          <code>
            {status !== 0 && `${status} `}
            {code}
          </code>
        ),
      },
      { id: 'count', header: t('refused.count'), align: 'end', cell: ({ perMinute }) => formatExactly(perMinute) },
    ],
    [t, refusal],
  );
  return (
    <Card className="panel">
      <h2 className="panel-title">{t('refused.title')}</h2>
      <ResourceTable
        label={t('refused.title')}
        columns={columns}
        rows={refused}
        rowKey={({ status, code }) => `${status} ${code}`}
        empty=""
      />
    </Card>
  );
}
