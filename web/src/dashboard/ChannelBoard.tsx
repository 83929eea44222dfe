import { useQuery } from '@apollo/client/react';
import { Card } from '@blueprintjs/core';
import { useMemo, useState } from 'react';
import { Link } from 'react-router-dom';
import { HealthBoardDocument } from '../generated/dashboard/board.js';
import type { ChannelHealthStateFragment } from '../generated/kit/channel/channelHealth.js';
import { ChannelStatusTag } from '../kit/channel/ChannelStatusTag.js';
import { ResponseTimeBadge } from '../kit/channel/ResponseTimeBadge.js';
import { useChannelHealth } from '../kit/channel/useChannelHealth.js';
import { useRegained } from '../kit/live/liveConnection.js';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useText } from '../kit/words/i18n.js';
import { type BoardChanges, lastErrorOf, noChanges, withChange } from './boardChanges.js';
import { ChangeLine } from './ChangeLine.js';
import { dashboardTexts } from './dashboard.texts.js';

/** Those that need somebody come first. */
const urgency = { AUTO_DISABLED: 0, DISABLED: 1, ENABLED: 2 } as const;

/** How the channels are, and what happens to them while one looks. */
export function ChannelBoard() {
  const t = useText(dashboardTexts);
  const result = useQuery(HealthBoardDocument, { fetchPolicy: 'cache-and-network' });
  const [seen, setSeen] = useState<BoardChanges>(noChanges);
  useChannelHealth((change) => {
    const lastName = result.data?.channels.items.find(({ id }) => id === change.channelId)?.name;
    setSeen((before) => withChange(before, change, lastName));
    if (change.kind === 'ADDED' || change.kind === 'REMOVED') void result.refetch();
  });
  useRegained(() => void result.refetch());

  const page = result.data?.channels;
  const channels =
    page &&
    [...page.items].sort(
      (one, other) => urgency[one.status] - urgency[other.status] || Number(one.id) - Number(other.id),
    );
  const enabled = channels?.filter(({ status }) => status === 'ENABLED').length ?? 0;
  const columns = useMemo<readonly Column<ChannelHealthStateFragment>[]>(
    () => [
      {
        id: 'channel',
        header: t('column.channel'),
        heading: true,
        cell: ({ id, name }) => <Link to={`/channel?open=${id}`}>{name}</Link>,
      },
      { id: 'status', header: t('board.status'), cell: (channel) => <ChannelStatusTag {...channel} /> },
      { id: 'responseTime', header: t('board.responseTime'), cell: (channel) => <ResponseTimeBadge {...channel} /> },
      {
        id: 'lastError',
        header: t('board.lastError'),
        cell: (channel) => {
          const error = lastErrorOf(channel, seen);
          return (
            <div className="last-error" title={error || undefined}>
              {error || t('board.noError')}
            </div>
          );
        },
      },
    ],
    [t, seen],
  );
  const newest = new Map(seen.changes.map(({ key, change }) => [change.channelId, key] as const).reverse());

  return (
    <div className="dashboard-columns">
      <Card className="panel">
        <h2 className="panel-title">
          {t('board.title')}
          {channels !== undefined && (
            <span className="gauge-note">{t('board.counts', { enabled, disabled: channels.length - enabled })}</span>
          )}
        </h2>
        <ResourceTable
          label={t('board.title')}
          columns={columns}
          rows={channels}
          // A new key lights the row up anew.
          rowKey={({ id }) => `${id} ${newest.get(id) ?? 0}`}
          result={result}
          isFresh={({ id }) => newest.has(id)}
          empty={t('board.none')}
        />
        {page !== undefined && channels !== undefined && page.total > channels.length && (
          <p className="panel-empty">{t('board.some', { shown: channels.length, total: page.total })}</p>
        )}
      </Card>
      <Card className="panel">
        <h2 className="panel-title">{t('changes.title')}</h2>
        {seen.changes.length === 0 && <p className="panel-empty">{t('changes.none')}</p>}
        <div className="changes" role="log" aria-label={t('changes.title')}>
          <ol>
            {seen.changes.map((one) => (
              <ChangeLine key={one.key} seen={one} />
            ))}
          </ol>
        </div>
      </Card>
    </div>
  );
}
