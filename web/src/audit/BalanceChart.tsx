import { memo } from 'react';
import { Area, AreaChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { figureAxis, timeAxis } from '../kit/chart/axes.js';
import { tooltipStyle } from '../kit/chart/tooltipStyle.js';
import { formatQuota } from '../kit/quota.js';
import { useQuotaUnits } from '../kit/SessionProvider.js';
import { formatClock, formatDayAndClock, formatExactClock, formatTime } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { replayTexts } from './replay.texts.js';
import type { ReplayMovement } from './useReplay.js';

interface BalanceChartProps {
  /** At least one. */
  readonly movements: readonly ReplayMovement[];
  /** Which of them the replay has come to. */
  readonly step: number;
}

/** A balance that stays is one line, beside one figure: others would be the same, or amounts that there are none of. */
const scaleOf = (balances: readonly number[]) => {
  const [least = 0, ...others] = [...new Set(balances)];
  return others.length > 0
    ? ({ domain: ['auto', 'auto'] } as const)
    : { domain: [least - 1, least + 1], ticks: [least] };
};

const margin = { top: 8, right: 8, bottom: 0, left: 0 };
/** Seconds from the first movement to the last. */
const clockFor = (span: number): ((at: number) => string) =>
  span > 24 * 3_600 ? formatDayAndClock : span > 600 ? formatClock : formatExactClock;

/** The balance over time, and how far the replay has come. */
export function BalanceChart({ movements, step }: BalanceChartProps) {
  const first = movements[0]?.at ?? 0;
  const span = (movements.at(-1)?.at ?? 0) - first;
  const share = span === 0 ? 1 : ((movements[step]?.at ?? first) - first) / span;
  return (
    <div className="replay-chart">
      <BalanceLine movements={movements} />
      {/* Above the line and not of it: drawing two thousand points with every step would stop the replay. */}
      <div className="replay-plot" aria-hidden="true">
        <div className="replay-past" style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}

const BalanceLine = memo(({ movements }: Pick<BalanceChartProps, 'movements'>) => {
  const t = useText(replayTexts);
  const units = useQuotaUnits();
  const money = (quota: number): string => formatQuota(quota, units, 4);
  const points = movements.map(({ at, balance }) => ({ at, available: balance.available }));
  const from = points[0]?.at ?? 0;
  const to = points.at(-1)?.at ?? 0;
  const summary = t('chart.summary', { from: formatTime(from), to: formatTime(to), count: points.length });
  return (
    <div role="img" aria-label={summary} className="chart chart-blue">
      <ResponsiveContainer width="100%" height={200}>
        <AreaChart data={points} margin={margin} accessibilityLayer={false}>
          <CartesianGrid vertical={false} />
          <XAxis
            dataKey="at"
            type="number"
            allowDecimals={false}
            // One moment has no width, and needs some to be drawn.
            domain={[from, Math.max(to, from + 1)]}
            {...timeAxis(clockFor(to - from))}
          />
          <YAxis {...figureAxis(money)} {...scaleOf(points.map(({ available }) => available))} />
          <Tooltip
            isAnimationActive={false}
            contentStyle={tooltipStyle}
            labelFormatter={(at) => formatTime(Number(at))}
            formatter={(value) => money(Number(value))}
          />
          <Area
            name={t('fact.balance')}
            dataKey="available"
            type="stepAfter"
            stroke="var(--chart)"
            strokeWidth={1.75}
            fill="var(--chart)"
            fillOpacity={0.14}
            isAnimationActive={false}
            dot={false}
          />
        </AreaChart>
      </ResponsiveContainer>
    </div>
  );
});
