import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { figureAxis, timeAxis } from '../kit/chart/axes.js';
import { tooltipStyle } from '../kit/chart/tooltipStyle.js';
import { formatClock } from '../kit/time.js';
import type { Piece } from './trafficHistory.js';

interface MinuteChartProps {
  readonly minutes: readonly Pick<Piece, 'start' | 'requests' | 'quota'>[];
  readonly figure: 'requests' | 'quota';
  readonly format: (value: number) => string;
  readonly colour: string;
  readonly title: string;
}

export function MinuteChart({ minutes, figure, format, colour, title }: MinuteChartProps) {
  return (
    <div role="img" aria-label={title} className={`chart chart-${colour} panel-chart`}>
      <ResponsiveContainer width="100%" height={160}>
        <BarChart data={[...minutes]} margin={{ top: 8, right: 8, bottom: 0, left: 0 }} accessibilityLayer={false}>
          <CartesianGrid vertical={false} />
          <XAxis dataKey="start" {...timeAxis(formatClock)} />
          <YAxis {...figureAxis(format)} allowDecimals={figure === 'quota'} />
          <Tooltip
            isAnimationActive={false}
            contentStyle={tooltipStyle}
            cursor={{ className: 'chart-cursor' }}
            labelFormatter={(at) => formatClock(Number(at))}
            formatter={(value) => [format(Number(value)), title]}
          />
          <Bar dataKey={figure} fill="var(--chart)" radius={[2, 2, 0, 0]} isAnimationActive={false} />
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}
