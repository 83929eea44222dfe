import { Area, AreaChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { figureAxis } from '../kit/chart/axes.js';
import { roundCeiling } from '../kit/chart/roundCeiling.js';
import { tooltipStyle } from '../kit/chart/tooltipStyle.js';
import { formatClock, formatExactClock } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { type TrafficFigure, type TrafficPoint, windowSeconds } from './trafficHistory.js';

interface TrafficChartProps {
  readonly history: readonly TrafficPoint[];
  /** Unix seconds of the right edge; null: where the history ends. */
  readonly now: number | null;
  /** One line, or the median and the 95th percentile. */
  readonly figures: readonly TrafficFigure[];
  readonly format: (value: number) => string;
  readonly colour: string;
  /** How far the scale reaches at least: nothing must not look like much. */
  readonly minTop: number;
  /** How the figure is called. */
  readonly name: string;
  /** For who cannot see it. */
  readonly summary: string;
}

/** The last hour, moving on with every figure that arrives. */
export function TrafficChart({ history, now, figures, format, colour, minTop, name, summary }: TrafficChartProps) {
  const t = useText(dashboardTexts);
  const end = now ?? history.at(-1)?.at ?? 0;
  const start = end - windowSeconds;
  const ticks = [start, start + windowSeconds / 3, start + (2 * windowSeconds) / 3, end];
  const names = figures.length === 1 ? [name] : [t('chart.p50'), t('chart.p95')];
  return (
    <div role="img" aria-label={summary} className={`chart chart-${colour}`}>
      <ResponsiveContainer width="100%" height={96}>
        <AreaChart
          data={history.filter(({ at }) => at >= start)}
          margin={{ top: 4, right: 4, bottom: 0, left: 0 }}
          accessibilityLayer={false}
        >
          <CartesianGrid vertical={false} />
          <XAxis
            dataKey="at"
            type="number"
            domain={[start, end]}
            allowDataOverflow
            ticks={ticks}
            tickFormatter={formatClock}
            tickLine={false}
            axisLine={false}
            height={18}
          />
          <YAxis
            {...figureAxis(format)}
            tickCount={3}
            domain={[0, (max: number) => roundCeiling(Math.max(max, minTop))]}
          />
          <Tooltip
            isAnimationActive={false}
            contentStyle={tooltipStyle}
            labelFormatter={(at) => formatExactClock(Number(at))}
            formatter={(value) => format(Number(value))}
          />
          {figures.map((figure, at) => (
            <Area
              key={figure}
              name={names[at]}
              dataKey={figure}
              type="linear"
              className={`chart-line chart-line-${at}`}
              stroke="var(--chart)"
              strokeWidth={at === 0 ? 1.75 : 1.25}
              strokeDasharray={at === 0 ? undefined : '3 3'}
              fill="var(--chart)"
              fillOpacity={at === 0 ? 0.14 : 0}
              isAnimationActive={false}
              dot={false}
            />
          ))}
        </AreaChart>
      </ResponsiveContainer>
    </div>
  );
}
