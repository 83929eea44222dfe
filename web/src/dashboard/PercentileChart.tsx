import { Area, AreaChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { figureAxis, timeAxis } from '../kit/chart/axes.js';
import { roundCeiling } from '../kit/chart/roundCeiling.js';
import { tooltipStyle } from '../kit/chart/tooltipStyle.js';
import { formatDuration } from '../kit/figures.js';

interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

interface PercentileChartProps {
  readonly title: string;
  readonly pieces: readonly (Percentiles & { readonly start: number })[];
  readonly clock: (at: number) => string;
}

const lines = [
  { figure: 'p50', name: 'P50', dash: undefined },
  { figure: 'p95', name: 'P95', dash: '4 3' },
  { figure: 'p99', name: 'P99', dash: '1 3' },
] as const;

/**
 * How long calls took, or took to begin, in each piece of time. A piece without calls breaks the lines, which are
 * areas that are not filled: the charts of traffic bring that along, and lines would come on top.
 */
export function PercentileChart({ title, pieces, clock }: PercentileChartProps) {
  return (
    <div role="img" aria-label={title} className="chart chart-orange panel-chart">
      <ResponsiveContainer width="100%" height={200}>
        <AreaChart data={[...pieces]} margin={{ top: 8, right: 8, bottom: 0, left: 0 }} accessibilityLayer={false}>
          <CartesianGrid vertical={false} />
          <XAxis dataKey="start" {...timeAxis(clock)} />
          <YAxis {...figureAxis(formatDuration)} domain={[0, (max: number) => roundCeiling(Math.max(max, 10))]} />
          <Tooltip
            isAnimationActive={false}
            contentStyle={tooltipStyle}
            labelFormatter={(at) => clock(Number(at))}
            formatter={(value, name) => [formatDuration(Number(value)), name]}
          />
          {lines.map(({ figure, name, dash }) => (
            <Area
              key={figure}
              name={name}
              dataKey={figure}
              type="linear"
              stroke="var(--chart)"
              fill="none"
              strokeWidth={1.5}
              strokeDasharray={dash}
              // One piece alone has no line to its neighbours.
              dot={{ r: 2, strokeDasharray: 'none' }}
              isAnimationActive={false}
            />
          ))}
        </AreaChart>
      </ResponsiveContainer>
    </div>
  );
}
