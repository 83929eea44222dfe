import { ProgressBar } from '@blueprintjs/core';
import type { TokenTermsFragment } from '../generated/tokens/tokens.js';
import { formatExactly } from '../kit/figures.js';
import { formatQuota } from '../kit/quota.js';
import { useQuotaUnits } from '../kit/SessionProvider.js';
import { Time } from '../kit/Time.js';
import { useText } from '../kit/words/i18n.js';
import { tokensTexts } from './tokens.texts.js';

type Budget = NonNullable<TokenTermsFragment['budget']>;

/** Of its budget, from which on the bar warns. */
const nearlySpent = 0.8;

/** How much of a budget is spent, and when it begins anew. */
export function TokenBudget({ budget: { quota, period, spent, resetsAt } }: { readonly budget: Budget }) {
  const t = useText(tokensTexts);
  const units = useQuotaUnits();
  const share = spent / quota;
  const of = t('budget.spent', { spent: formatQuota(spent, units), budget: formatQuota(quota, units) });
  return (
    <div className="token-budget">
      <span className="figures" title={`${formatExactly(spent)} / ${formatExactly(quota)}`}>
        {of} · {t(`period.${period}`)}
      </span>
      <ProgressBar
        aria-label={of}
        animate={false}
        stripes={false}
        intent={share >= 1 ? 'danger' : share >= nearlySpent ? 'warning' : 'primary'}
        value={Math.min(Math.max(share, 0), 1)}
      />
      <span className="token-budget-until">
        {t('budget.resets')} <Time at={resetsAt} />
      </span>
    </div>
  );
}
