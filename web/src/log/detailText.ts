import type { LogRowFragment } from '../generated/log/log.js';
import type { Translate } from '../kit/words/i18n.js';
import type { logZh } from './log.zh.js';

/** What a line has to say beside its figures, in a few words; empty: nothing. */
export function detailText({ detail, outcome }: LogRowFragment, t: Translate<typeof logZh>): string {
  if (detail === null) return outcome === null || outcome === 'COMPLETED' ? '' : t(`outcome.${outcome}`);
  switch (detail.__typename) {
    case 'GrantDetail':
      return t(`granted.${detail.grantReason}`);
    case 'AdjustmentDetail':
      return t('adjusted');
    case 'ChannelTestDetail':
      return t('tested');
    case 'ReleaseDetail': {
      const answered = [detail.status, detail.code].filter((part) => part !== null).join(' ');
      return answered === '' ? t(`released.${detail.releaseReason}`) : answered;
    }
  }
}

/** What the line moved: the charge, or the quota given or taken. null: nothing was moved. */
export function amountOf({ type, quota, detail }: LogRowFragment): number | null {
  if (detail?.__typename === 'GrantDetail') return detail.quota;
  if (detail?.__typename === 'AdjustmentDetail') return detail.delta;
  return type === 'CONSUME' ? quota : null;
}
