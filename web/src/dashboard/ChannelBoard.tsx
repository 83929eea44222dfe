import { useQuery } from '@apollo/client/react';
import { Button, Card } from '@blueprintjs/core';
import { useMemo, useState } from 'react';
import { Link } from 'react-router-dom';
import { HealthBoardDocument } from '../generated/dashboard/board.js';
import type { ChannelHealthStateFragment } from '../generated/kit/channel/channelHealth.js';
import { CutText } from '../kit/CutText.js';
import { ChannelStatusTag } from '../kit/channel/ChannelStatusTag.js';
import { ResponseTimeBadge } from '../kit/channel/ResponseTimeBadge.js';
import { useChannelHealth } from '../kit/channel/useChannelHealth.js';
import { useRegained } from '../kit/live/liveConnection.js';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useText } from '../kit/words/i18n.js';
import { type BoardChanges, byUrgency, lastErrorOf, noChanges, withChange } from './boardChanges.js';
import { dashboardTexts } from './dashboard.texts.js';
import { JustHappened } from './JustHappened.js';

/** As many as are read at a glance. */
const maxUnfolded = 12;

/** How the channels are, and what happened and happens to them. */
export function ChannelBoard() {
  const t = useText(dashboardTexts);
  const [seen, setSeen] = useState<BoardChanges>(noChanges);
  const [unfolded, setUnfolded] = useState(false);
  const result = useQuery(HealthBoardDocument, { fetchPolicy: 'cache-and-network' });
  const board = result.data;
  const channels = board && byUrgency([...board.channels.items, ...board.out.items, ...board.failing.items]);
  useChannelHealth((change) => {
    const lastName = channels?.find(({ id }) => id === change.channelId)?.name;
    setSeen((before) => withChange(before, change, lastName));
    // Tests and edits bring along all that they change here.
    if (change.kind !== 'TESTED' && change.kind !== 'EDITED' && change.kind !== 'BALANCE_TOLD') void result.refetch();
  });
  useRegained(() => void result.refetch());

  const columns = useMemo<readonly Column<ChannelHealthStateFragment>[]>(
    () => [
      {
        id: 'channel',
        header: t('column.channel'),
        heading: true,
        cell: ({ id, name }) => (
          <Link to={`/channel/${id}`}>
            <CutText text={name} />
          </Link>
        ),
      },
      { id: 'status', header: t('board.status'), cell: (channel) => <ChannelStatusTag {...channel} /> },
      { id: 'responseTime', header: t('board.responseTime'), cell: (channel) => <ResponseTimeBadge {...channel} /> },
      {
        id: 'lastError',
        header: t('board.lastError'),
        cell: (channel) => lastErrorOf(channel, seen) || t('board.noError'),
      },
    ],
    [t, seen],
  );
  const newest = new Map(seen.changes.map(({ change }) => [change.channelId, change.position] as const).reverse());

  return (
    <div className="dashboard-columns">
      <Card className="panel">
        <h2 className="panel-title">
          {t('board.title')}
          {board !== undefined && (
            <span className="gauge-note">
              {t('board.counts', {
                enabled: board.channels.total - board.out.total - board.off.total,
                disabled: board.out.total + board.off.total,
              })}
            </span>
          )}
        </h2>
        <ResourceTable
          label={t('board.title')}
          columns={columns}
          rows={unfolded ? channels : channels?.slice(0, maxUnfolded)}
          // A new key lights the row up anew.
          rowKey={({ id }) => `${id} ${newest.get(id) ?? 0}`}
          result={result}
          isFresh={({ id }) => newest.has(id)}
          empty={t('board.none')}
        />
        {channels !== undefined && channels.length > maxUnfolded && (
          <Button
            className="board-fold"
            variant="minimal"
            size="small"
            text={unfolded ? t('board.fewer') : t('board.all', { total: channels.length })}
            aria-expanded={unfolded}
            onClick={() => setUnfolded(!unfolded)}
          />
        )}
        {board !== undefined && channels !== undefined && board.channels.total > channels.length && (
          <p className="panel-empty">{t('board.some', { shown: channels.length, total: board.channels.total })}</p>
        )}
      </Card>
      <JustHappened seen={seen.changes} />
    </div>
  );
}
