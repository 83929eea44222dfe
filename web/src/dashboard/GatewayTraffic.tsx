import { Callout, Card } from '@blueprintjs/core';
import { lazy, type ReactNode, Suspense } from 'react';
import { abbreviate, formatDuration, formatDurations, formatPercent } from '../kit/figures.js';
import { formatQuota } from '../kit/quota.js';
import { useQuotaUnits } from '../kit/SessionProvider.js';
import { formatTime } from '../kit/time.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { RefusedCalls } from './RefusedCalls.js';
import { TrafficTables } from './TrafficTables.js';
import type { TrafficFigure } from './trafficHistory.js';
import { useTrafficHistory } from './useTrafficHistory.js';

const TrafficChart = lazy(async () => ({ default: (await import('./TrafficChart.js')).TrafficChart }));

interface Gauge {
  readonly label: string;
  readonly note?: string;
  readonly value: string;
  readonly figures: readonly TrafficFigure[];
  /** How a value on the chart's scale is written. */
  readonly format: (value: number) => string;
  readonly colour: string;
  /** How far the chart's scale reaches at least. */
  readonly minTop: number;
}

export function GatewayTraffic() {
  const t = useText(dashboardTexts);
  const units = useQuotaUnits();
  const { traffic, history, error } = useTrafficHistory();
  const total = traffic?.total;
  const refusedPerMinute = traffic?.refused.reduce((sum, { perMinute }) => sum + perMinute, 0) ?? 0;
  const money = (quota: number): string => formatQuota(quota, units, 4);
  const figureOf = (text: (figures: NonNullable<typeof total>) => string): string =>
    total === undefined ? '—' : text(total);

  const gauges: readonly Gauge[] = [
    {
      label: t('figure.requests'),
      value: figureOf(({ requestsPerMinute }) => abbreviate(requestsPerMinute)),
      figures: ['requestsPerMinute'],
      format: abbreviate,
      colour: 'blue',
      minTop: 4,
    },
    {
      label: t('figure.tokens'),
      value: figureOf(({ tokensPerMinute }) => abbreviate(tokensPerMinute)),
      figures: ['tokensPerMinute'],
      format: abbreviate,
      colour: 'violet',
      minTop: 4,
    },
    {
      label: t('figure.spend'),
      value: figureOf(({ quotaPerMinute }) => money(quotaPerMinute)),
      figures: ['quotaPerMinute'],
      format: money,
      colour: 'green',
      minTop: 1,
    },
    {
      label: t('figure.errorRate'),
      note: refusedPerMinute > 0 ? t('figure.refused', { count: abbreviate(refusedPerMinute) }) : undefined,
      value: figureOf(({ errorRate }) => formatPercent(errorRate)),
      figures: ['errorRate'],
      format: formatPercent,
      colour: 'red',
      minTop: 0.1,
    },
    {
      label: t('figure.firstToken'),
      note: t('figure.percentiles'),
      value: figureOf(({ firstTokenP50Ms, firstTokenP95Ms }) => formatDurations(firstTokenP50Ms, firstTokenP95Ms)),
      figures: ['firstTokenP50Ms', 'firstTokenP95Ms'],
      format: formatDuration,
      colour: 'teal',
      minTop: 10,
    },
    {
      label: t('figure.duration'),
      note: t('figure.percentiles'),
      value: figureOf(({ latencyP50Ms, latencyP95Ms }) => formatDurations(latencyP50Ms, latencyP95Ms)),
      figures: ['latencyP50Ms', 'latencyP95Ms'],
      format: formatDuration,
      colour: 'orange',
      minTop: 10,
    },
  ];

  if (error !== undefined) return <Callout intent="danger">{errorText(error)}</Callout>;
  return (
    <>
      <section className="gauges" aria-label={t('figure.window')}>
        {gauges.map(({ label, note, value, figures, format, colour, minTop }) => (
          <GaugeCard key={label} label={label} note={note} value={value}>
            <Suspense fallback={null}>
              <TrafficChart
                history={history}
                now={traffic?.at ?? null}
                figures={figures}
                format={format}
                colour={colour}
                minTop={minTop}
                name={label}
                summary={t('chart.summary', { figure: label, value })}
              />
            </Suspense>
          </GaugeCard>
        ))}
      </section>
      {traffic !== null && <p className="as-of figures">{t('asOf', { time: formatTime(traffic.at) })}</p>}
      {refusedPerMinute > 0 && traffic !== null && <RefusedCalls refused={traffic.refused} />}
      <TrafficTables traffic={traffic} money={money} />
    </>
  );
}

interface GaugeCardProps {
  readonly label: string;
  readonly note?: string;
  readonly value: string;
  readonly children: ReactNode;
}

function GaugeCard({ label, note, value, children }: GaugeCardProps) {
  return (
    <Card className="gauge">
      <h2 className="gauge-label">
        {label}
        {note !== undefined && <span className="gauge-note">{note}</span>}
      </h2>
      <p className="gauge-value figures">{value}</p>
      <div className="gauge-chart">{children}</div>
    </Card>
  );
}
