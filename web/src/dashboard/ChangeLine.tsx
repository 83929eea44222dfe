import { inSeconds } from '../kit/channel/responseTime.js';
import { formatTime } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import type { SeenChange } from './boardChanges.js';
import { dashboardTexts } from './dashboard.texts.js';

const marks = { bad: 'change-bad', good: 'change-good', plain: '' } as const;

/** What happened to a channel, in a line, and why. */
export function ChangeLine({ seen: { change, name } }: { readonly seen: SeenChange }) {
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
