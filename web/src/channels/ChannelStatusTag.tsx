import type { ChannelHealthStateFragment } from '../generated/channels/channelHealth.js';
import { StatusTag } from '../shared/StatusTag.js';
import { formatTime } from '../shared/time.js';
import { useText } from '../shared/words/i18n.js';
import { channelsTexts } from './channels.texts.js';

const intents = { ENABLED: 'success', DISABLED: 'danger', AUTO_DISABLED: 'warning' } as const;

export type ChannelStatusTagProps = Pick<ChannelHealthStateFragment, 'status' | 'statusReason' | 'statusTime'>;

/** On hover it tells why, and when, the gateway switched a channel off. */
export function ChannelStatusTag({ status, statusReason, statusTime }: ChannelStatusTagProps) {
  const t = useText(channelsTexts);
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
