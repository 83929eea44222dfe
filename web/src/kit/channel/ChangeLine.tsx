import { formatDuration } from '../figures.js';
import './changeLine.css';
import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import type { ChannelChangeFactsFragment } from '../../generated/kit/channel/channelHealth.js';
import { formatTime } from '../time.js';
import { type Translate, useText } from '../words/i18n.js';
import { channelStateTexts } from './channelState.texts.js';
import type { channelStateZh } from './channelState.zh.js';

interface ChangeLineProps {
  readonly change: ChannelChangeFactsFragment;
  /** How the channel is, or was, called; left out: who reads this knows which it is. */
  readonly name?: string | null;
  /** More about it. */
  readonly children?: ReactNode;
}

type Mark = 'bad' | 'good' | 'plain';

function said(
  { kind, automatic, ok, responseTimeMs, balance }: ChannelChangeFactsFragment,
  t: Translate<typeof channelStateZh>,
): { readonly text: string; readonly mark: Mark } {
  switch (kind) {
    case 'ENABLED':
      return { text: t(automatic === true ? 'change.enabledAutomatically' : 'change.enabled'), mark: 'good' };
    case 'DISABLED':
      return { text: t(automatic === true ? 'change.disabledAutomatically' : 'change.disabled'), mark: 'bad' };
    case 'TESTED':
      return ok === true
        ? { text: t('change.passed', { time: formatDuration(responseTimeMs ?? 0) }), mark: 'good' }
        : { text: t('change.failed'), mark: 'bad' };
    case 'BALANCE_TOLD':
      return { text: t('change.BALANCE_TOLD', { balance: balance ?? '' }), mark: 'plain' };
    default:
      return { text: t(`change.${kind}`), mark: 'plain' };
  }
}

/** The time of day; of other days also which. */
function shortTime(at: number): string {
  const [shown, now] = [formatTime(at), formatTime(Date.now() / 1_000)];
  return shown.slice(0, 10) === now.slice(0, 10) ? shown.slice(11) : shown.slice(5);
}

/** What happened to a channel, in a line: when, what, by whom, and why. */
export function ChangeLine({ change, name, children }: ChangeLineProps) {
  const t = useText(channelStateTexts);
  const { at, channelId, by, reason } = change;
  const { text, mark } = said(change, t);
  return (
    <li className="change-line">
      <time className="figures" dateTime={new Date(at * 1_000).toISOString()} title={formatTime(at)}>
        {shortTime(at)}
      </time>{' '}
      {name !== undefined && <Link to={`/channel/${channelId}`}>{name ?? `#${channelId}`}</Link>}{' '}
      <span className={`change-${mark}`}>{text}</span>
      {by !== null && <span className="change-by"> · {by.username}</span>}
      {reason !== null && reason !== '' && <div className="change-reason">{reason}</div>}
      {children}
    </li>
  );
}
