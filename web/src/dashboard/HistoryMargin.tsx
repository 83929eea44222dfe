import { Card } from '@blueprintjs/core';
import type { UsageHistoryQuery } from '../generated/dashboard/history.js';
import { formatExactly, formatPercent } from '../kit/figures.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { Growth } from './Growth.js';
import { costOf, hasKnownCost, inDollars, marginOf } from './margin.js';

interface HistoryMarginProps {
  /** undefined: not known yet. */
  readonly found: UsageHistoryQuery | undefined;
  readonly money: (quota: number) => string;
}

/** What providers charged for the range and what was left, and of how many calls nobody knows that. */
export function HistoryMargin({ found, money }: HistoryMarginProps) {
  const t = useText(dashboardTexts);
  const [total, before] = [found?.usageHistory.total, found?.before.total];
  if (total?.margin == null || total.requests === 0) return null;
  const { callsWithoutCost, quotaWithoutCost } = total.margin;
  const unknown = t('margin.without', {
    calls: formatExactly(callsWithoutCost),
    of: formatExactly(total.requests),
    charged: money(quotaWithoutCost),
  });
  if (!hasKnownCost(total)) return <p className="section-note">{t('margin.none')}</p>;
  const earned = costOf(total) + marginOf(total);
  const tiles = [
    { label: t('margin.cost'), of: costOf, format: inDollars },
    { label: t('margin.margin'), of: marginOf, format: inDollars },
  ];
  return (
    <section className="history-margin" aria-label={t('margin.title')}>
      <div className="tiles">
        {tiles.map(({ label, of, format }) => {
          const earlier = before !== undefined && hasKnownCost(before) ? of(before) : null;
          return (
            <Card key={label} className="gauge">
              <h3 className="gauge-label">{label}</h3>
              <p className="gauge-value figures">{format(of(total))}</p>
              <p className="gauge-before">
                {earlier === null ? t('history.nothingBefore') : t('history.before', { value: format(earlier) })}{' '}
                <Growth now={of(total)} before={earlier} />
              </p>
            </Card>
          );
        })}
        <Card className="gauge">
          <h3 className="gauge-label">{t('margin.share')}</h3>
          <p className="gauge-value figures">{earned > 0 ? formatPercent(marginOf(total) / earned) : '—'}</p>
          <p className="gauge-before">{t('margin.ofCharged')}</p>
        </Card>
      </div>
      {callsWithoutCost > 0 && <p className="section-note">{unknown}</p>}
    </section>
  );
}
