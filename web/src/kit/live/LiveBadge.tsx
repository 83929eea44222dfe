import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';
import { useLiveStatus } from './liveConnection.js';

/** Whether a live view is live. Said aloud to screen readers when it changes. */
export function LiveBadge() {
  const t = useText(commonTexts);
  const { state } = useLiveStatus();
  const shown = state === 'open' ? 'open' : state === 'lost' ? 'lost' : 'connecting';
  return (
    <span className={`live-badge live-badge-${shown}`} role="status">
      {t(`live.${shown}`)}
    </span>
  );
}
