import { formatDuration } from '../figures.js';
import './responseTime.css';
import { Tag } from '@blueprintjs/core';
import { formatTime } from '../time.js';
import { useText } from '../words/i18n.js';
import { channelStateTexts } from './channelState.texts.js';
import { speedOf } from './responseTime.js';

interface ResponseTimeBadgeProps {
  /** ms; 0: never tested. */
  readonly responseTimeMs: number;
  /** Unix seconds. */
  readonly testedAt?: number | null;
  /** Why the last test failed; null: it did not. */
  readonly testError?: string | null;
}

export function ResponseTimeBadge({ responseTimeMs, testedAt = null, testError = null }: ResponseTimeBadgeProps) {
  const t = useText(channelStateTexts);
  const speed = speedOf(responseTimeMs);
  const tested = testedAt === null ? undefined : t('speed.testedAt', { time: formatTime(testedAt) });
  if (testError !== null)
    return (
      <Tag minimal intent="danger" title={tested}>
        {t('test.failed')}
      </Tag>
    );
  return (
    <Tag minimal className={`speed speed-${speed}`} title={tested}>
      {speed === 'untested' ? t('speed.untested') : formatDuration(responseTimeMs)}
    </Tag>
  );
}
