import { Card, Classes } from '@blueprintjs/core';
import { Link } from 'react-router-dom';
import type { FiguresShownFragment, UsageHistoryQuery } from '../generated/dashboard/history.js';
import { abbreviate, formatDuration, formatPercent, formatRate } from '../kit/figures.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { Growth } from './Growth.js';

interface HistoryTotalsProps {
  /** undefined: not known yet. */
  readonly found: UsageHistoryQuery | undefined;
  /** Of the whole range, in the log. */
  readonly link: (type?: 'CONSUME' | 'ERROR') => string;
  /** When the time before was, for who wants to know what is compared. */
  readonly earlier: string;
  readonly money: (quota: number) => string;
}

type Figures = UsageHistoryQuery['before'];

interface Tile {
  readonly label: string;
  readonly of: (figures: Figures) => number | null;
  readonly format: (value: number) => string;
  readonly type?: 'CONSUME' | 'ERROR';
}

const tokensOf = ({ promptTokens, completionTokens }: FiguresShownFragment): number => promptTokens + completionTokens;
const errorRateOf = ({ requests, errors }: FiguresShownFragment): number | null =>
  requests + errors === 0 ? null : errors / (requests + errors);

/** What the range comes to, each figure beside that of as long a time before it. */
export function HistoryTotals({ found, link, earlier, money }: HistoryTotalsProps) {
  const t = useText(dashboardTexts);
  const tiles: readonly Tile[] = [
    { label: t('history.cost'), of: ({ total }) => total.quota, format: money, type: 'CONSUME' },
    { label: t('history.calls'), of: ({ total }) => total.requests, format: abbreviate, type: 'CONSUME' },
    { label: t('history.tokens'), of: ({ total }) => tokensOf(total), format: abbreviate, type: 'CONSUME' },
    { label: t('history.errors'), of: ({ total }) => total.errors, format: abbreviate, type: 'ERROR' },
    { label: t('figure.errorRate'), of: ({ total }) => errorRateOf(total), format: formatPercent, type: 'ERROR' },
    { label: t('figure.requests'), of: ({ requestsPerMinute }) => requestsPerMinute, format: formatRate },
    { label: t('figure.tokens'), of: ({ tokensPerMinute }) => tokensPerMinute, format: formatRate },
    { label: t('history.latencyP95'), of: ({ total }) => total.latency.p95, format: formatDuration, type: 'CONSUME' },
    {
      label: t('history.firstTokenP95'),
      of: ({ total }) => total.firstToken.p95,
      format: formatDuration,
      type: 'CONSUME',
    },
  ];
  return (
    <section className="tiles tiles-nine" aria-label={t('history.totals')}>
      {tiles.map(({ label, of, format, type }) => {
        const [now, before] = found === undefined ? [null, null] : [of(found.usageHistory), of(found.before)];
        return (
          <Card key={label} className="gauge">
            <h3 className="gauge-label">{label}</h3>
            <p className={found === undefined ? `gauge-value ${Classes.SKELETON}` : 'gauge-value figures'}>
              <Link to={link(type)}>{now === null ? '—' : format(now)}</Link>
            </p>
            <p className={found === undefined ? `gauge-before ${Classes.SKELETON}` : 'gauge-before'} title={earlier}>
              {before === null ? t('history.nothingBefore') : t('history.before', { value: format(before) })}{' '}
              <Growth now={now} before={before} />
            </p>
          </Card>
        );
      })}
    </section>
  );
}
