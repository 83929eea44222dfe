import type { ChannelHealthStateFragment } from '../../generated/kit/channel/channelHealth.js';
import { StatusTag } from '../StatusTag.js';
import { formatTime } from '../time.js';
import { useText } from '../words/i18n.js';
import { channelStateTexts } from './channelState.texts.js';

const intents = { ENABLED: 'success', DISABLED: 'danger', AUTO_DISABLED: 'warning' } as const;

type ChannelStatusTagProps = Pick<ChannelHealthStateFragment, 'status' | 'statusReason' | 'statusTime'>;

/** On hover it shows why, and when, the gateway switched a channel off. */
export function ChannelStatusTag({ status, statusReason, statusTime }: ChannelStatusTagProps) {
  const t = useText(channelStateTexts);
  const reason =
    status === 'AUTO_DISABLED' && statusTime !== null
      ? t('status.reason', { time: formatTime(statusTime), reason: statusReason })
      : undefined;
  return (
    <StatusTag intent={intents[status]} reason={reason}>
      {t(`status.${status}`)}
    </StatusTag>
  );
}
