import { Tag } from '@blueprintjs/core';
import { useText } from '../kit/words/i18n.js';
import type { ChannelChoice } from './channelDraft.js';
import { channelsTexts } from './channels.texts.js';

/** The provider of a channel, with its colour; marked where nothing goes there. `choice`: undefined: nobody knows it. */
export function TypeLabel({ type, choice }: { readonly type: number; readonly choice: ChannelChoice | undefined }) {
  const t = useText(channelsTexts);
  return (
    <span className="type-label">
      <span className={`type-dot type-${choice?.colour ?? 'grey'}`} aria-hidden="true" />
      {choice?.name ?? t('type.unknown', { type })}
      {choice?.served === false && (
        <Tag minimal intent="warning" title={t('type.notServedHint')}>
          {t('type.notServedMark')}
        </Tag>
      )}
    </span>
  );
}
