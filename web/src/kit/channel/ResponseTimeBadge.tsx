import './responseTime.css';
import { Tag } from '@blueprintjs/core';
import { formatTime } from '../time.js';
import { useText } from '../words/i18n.js';
import { channelStateTexts } from './channelState.texts.js';
import { inSeconds, speedOf } from './responseTime.js';

interface ResponseTimeBadgeProps {
  /** ms; 0: never tested. */
  readonly responseTimeMs: number;
  /** Unix seconds. */
  readonly testedAt?: number | null;
}

export function ResponseTimeBadge({ responseTimeMs, testedAt = null }: ResponseTimeBadgeProps) {
  const t = useText(channelStateTexts);
  const speed = speedOf(responseTimeMs);
  return (
    <Tag
      minimal
      className={`speed speed-${speed}`}
      title={testedAt === null ? undefined : t('speed.testedAt', { time: formatTime(testedAt) })}
    >
      {speed === 'untested' ? t('speed.untested') : inSeconds(responseTimeMs)}
    </Tag>
  );
}
