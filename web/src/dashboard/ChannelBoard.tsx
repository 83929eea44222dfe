import { useQuery } from '@apollo/client/react';
import { Card, HTMLTable } from '@blueprintjs/core';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { HealthBoardDocument } from '../generated/dashboard/board.js';
import type { ChannelHealthStateFragment } from '../generated/shared/channel/channelHealth.js';
import { ChannelStatusTag } from '../shared/channel/ChannelStatusTag.js';
import { ResponseTimeBadge } from '../shared/channel/ResponseTimeBadge.js';
import { inSeconds } from '../shared/channel/responseTime.js';
import { useChannelHealth } from '../shared/channel/useChannelHealth.js';
import { useRegained } from '../shared/live/liveConnection.js';
import { QueryNotice } from '../shared/QueryNotice.js';
import { formatTime } from '../shared/time.js';
import { useText } from '../shared/words/i18n.js';
import { type BoardChanges, noChanges, type SeenChange, withChange } from './boardChanges.js';
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
  const channels = [...(page?.items ?? [])].sort(
    (one, other) => urgency[one.status] - urgency[other.status] || Number(one.id) - Number(other.id),
  );
  const enabled = channels.filter(({ status }) => status === 'ENABLED').length;
  const newest = new Map(seen.changes.map(({ key, change }) => [change.channelId, key] as const).reverse());

  return (
    <div className="dashboard-columns">
      <Card className="panel">
        <h2 className="panel-title">
          {t('board.title')}
          {page !== undefined && (
            <span className="gauge-note">{t('board.counts', { enabled, disabled: channels.length - enabled })}</span>
          )}
        </h2>
        {page === undefined && <QueryNotice {...result} />}
        {page?.total === 0 && <p className="panel-empty">{t('board.none')}</p>}
        {channels.length > 0 && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by itself, which the keyboard must reach.
          <section className="table-scroll" aria-label={t('board.title')} tabIndex={0}>
            <HTMLTable compact className="data-table">
              <thead>
                <tr>
                  <th scope="col">{t('column.channel')}</th>
                  <th scope="col">{t('board.status')}</th>
                  <th scope="col">{t('board.responseTime')}</th>
                  <th scope="col">{t('board.lastError')}</th>
                </tr>
              </thead>
              <tbody>
                {channels.map((channel) => (
                  <BoardRow
                    // A new key starts the flash anew.
                    key={`${channel.id} ${newest.get(channel.id) ?? 0}`}
                    channel={channel}
                    isFresh={newest.has(channel.id)}
                    error={seen.errors.get(channel.id)}
                  />
                ))}
              </tbody>
            </HTMLTable>
          </section>
        )}
        {page !== undefined && page.total > channels.length && (
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

interface BoardRowProps {
  readonly channel: ChannelHealthStateFragment;
  readonly isFresh: boolean;
  /** Of what happened since the page was opened; undefined: nothing that says. */
  readonly error: string | null | undefined;
}

function BoardRow({ channel, isFresh, error }: BoardRowProps) {
  const t = useText(dashboardTexts);
  const { id, name, status, statusReason } = channel;
  const last = error === undefined ? (status === 'AUTO_DISABLED' ? statusReason : null) : error;
  return (
    <tr className={isFresh ? 'row-flash' : undefined}>
      <th scope="row">
        <Link to={`/channel?open=${id}`}>{name}</Link>
      </th>
      <td>
        <ChannelStatusTag {...channel} />
      </td>
      <td>
        <ResponseTimeBadge {...channel} />
      </td>
      <td className="last-error" title={last ?? undefined}>
        {last === null || last === '' ? t('board.noError') : last}
      </td>
    </tr>
  );
}

const marks = { bad: 'change-bad', good: 'change-good', plain: '' } as const;

function ChangeLine({ seen: { change, name } }: { readonly seen: SeenChange }) {
  const t = useText(dashboardTexts);
  const { at, channelId, kind, automatic, ok, reason, responseTimeMs } = change;
  const said = (): { readonly text: string; readonly mark: keyof typeof marks } => {
    switch (kind) {
      case 'ENABLED':
        return { text: t(automatic === true ? 'change.enabledAutomatically' : 'change.enabled'), mark: 'good' };
      case 'DISABLED':
        return { text: t(automatic === true ? 'change.disabledAutomatically' : 'change.disabled'), mark: 'bad' };
      case 'TESTED':
        return ok === true
          ? { text: t('change.passed', { time: inSeconds(responseTimeMs ?? 0) }), mark: 'good' }
          : { text: t('change.failed'), mark: 'bad' };
      default:
        return { text: t(`change.${kind}`), mark: 'plain' };
    }
  };
  const { text, mark } = said();
  return (
    <li>
      <time className="figures" dateTime={new Date(at * 1000).toISOString()}>
        {formatTime(at).slice(11)}
      </time>{' '}
      <strong>{name ?? `#${channelId}`}</strong> <span className={marks[mark]}>{text}</span>
      {reason !== null && reason !== '' && <div className="change-reason">{reason}</div>}
    </li>
  );
}
