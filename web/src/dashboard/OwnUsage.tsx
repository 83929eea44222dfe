import { useSubscription } from '@apollo/client/react';
import { Card } from '@blueprintjs/core';
import { type ComponentProps, lazy, Suspense } from 'react';
import { LiveBalanceDocument } from '../generated/dashboard/ownUsage.js';
import { formatExactly } from '../kit/figures.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { QuotaText } from '../kit/QuotaText.js';
import { formatQuota } from '../kit/quota.js';
import { useQuotaUnits } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { RecentCalls } from './RecentCalls.js';
import { useOwnCalls } from './useOwnCalls.js';

const MinuteChart = lazy(async () => ({ default: (await import('./MinuteChart.js')).MinuteChart }));

/** One's own wallet, and what one's keys do at this moment; of calls nothing until the log has come to them. */
export function OwnUsage({ isHistoryWhole }: { readonly isHistoryWhole: boolean }) {
  const t = useText(dashboardTexts);
  const units = useQuotaUnits();
  const { data: live } = useSubscription(LiveBalanceDocument);
  const { lines, minutes, start, error, look } = useOwnCalls(isHistoryWhole);
  const spent = minutes.reduce((sum, { quota }) => sum + quota, 0);
  const money = (quota: number): string => formatQuota(quota, units, 4);
  const wallet = live?.balance;
  const tiles = [
    { label: t('own.balance'), value: wallet && <QuotaText quota={wallet.available} digits={4} /> },
    { label: t('own.used'), value: wallet && <QuotaText quota={wallet.usedQuota} digits={4} /> },
    { label: t('own.requestCount'), value: wallet && formatExactly(wallet.requestCount) },
    { label: t('own.recentSpend'), value: lines && <QuotaText quota={spent} digits={4} /> },
  ];
  return (
    <>
      <section className="tiles" aria-label={t('own.balance')}>
        {tiles.map(({ label, value }) => (
          <Card key={label} className="gauge">
            <h2 className="gauge-label">{label}</h2>
            <p className="gauge-value figures">{value ?? '—'}</p>
          </Card>
        ))}
      </section>
      {lines === null ? (
        isHistoryWhole && <QueryNotice loading={error === undefined} error={error} refetch={look} />
      ) : (
        <>
          <div className="dashboard-columns">
            <MinutePanel title={t('own.spendChart')} minutes={minutes} figure="quota" format={money} colour="green" />
            <MinutePanel
              title={t('own.requestChart')}
              minutes={minutes}
              figure="requests"
              format={String}
              colour="blue"
            />
          </div>
          <RecentCalls lines={lines} start={start} />
        </>
      )}
    </>
  );
}

function MinutePanel(chart: ComponentProps<typeof MinuteChart>) {
  return (
    <Card className="panel">
      <h2 className="panel-title">{chart.title}</h2>
      <Suspense fallback={<div className="chart-place" />}>
        <MinuteChart {...chart} />
      </Suspense>
    </Card>
  );
}
