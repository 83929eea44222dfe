import type { LogRowFragment } from '../generated/log/log.js';
import { formatExactly } from '../kit/figures.js';
import type { refusalZh } from '../kit/refusal/refusal.zh.js';
import { causeOf } from '../kit/refusal/refusals.js';
import type { Translate } from '../kit/words/i18n.js';
import type { logZh } from './log.zh.js';

/** What a line has to say beside its figures, in a few words; empty: nothing. */
export function detailText(
  { detail, outcome }: LogRowFragment,
  t: Translate<typeof logZh>,
  refusal: Translate<typeof refusalZh>,
): string {
  if (detail === null) return outcome === null || outcome === 'COMPLETED' ? '' : t(`outcome.${outcome}`);
  switch (detail.__typename) {
    case 'GrantDetail':
      return t(`granted.${detail.grantReason}`);
    case 'AdjustmentDetail':
      return t('adjusted');
    case 'ApiKeyRevokedDetail':
      return t('revoked', { name: detail.name });
    case 'CodeIssuedDetail':
      return t(detail.edited ? 'codeEdited' : 'codeIssued', { id: detail.codeId });
    case 'TopUpDetail':
      return t('toppedUp', { money: detail.money, currency: detail.currency });
    case 'TopUpReturnDetail':
      return t(`returned.${detail.cause}`, { money: detail.money, currency: detail.currency });
    case 'TaskRefundDetail':
      return t('taskRefunded', { id: detail.publicId });
    case 'CorrectionDetail':
      return t(`corrected.${detail.part}`);
    case 'RedemptionDetail':
      return t('redeemed', { id: detail.redemptionId });
    case 'ChannelTestDetail':
      return t('tested');
    case 'RefusalDetail': {
      const cause = refusal(causeOf(detail.refusedStatus, detail.refusedCode));
      return detail.since === null ? cause : t('refused.more', { cause, count: formatExactly(detail.count) });
    }
    case 'ReleaseDetail': {
      const answered = [detail.status, detail.code].filter((part) => part !== null).join(' ');
      return answered === '' ? t(`released.${detail.releaseReason}`) : answered;
    }
  }
}

/** What the line moved: the charge, or the quota given or taken. null: nothing was moved. */
export function amountOf({ type, quota, detail }: LogRowFragment): number | null {
  if (detail?.__typename === 'GrantDetail' || detail?.__typename === 'TopUpDetail') return detail.quota;
  if (detail?.__typename === 'AdjustmentDetail') return detail.delta;
  if (detail?.__typename === 'TaskRefundDetail' || detail?.__typename === 'CorrectionDetail') return detail.quota;
  if (detail?.__typename === 'TopUpReturnDetail' || detail?.__typename === 'RedemptionDetail') return detail.quota;
  return type === 'CONSUME' ? quota : null;
}
