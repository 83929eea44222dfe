import { useNavigate } from 'react-router-dom';
import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { figureAxis, timeAxis } from '../kit/chart/axes.js';
import { tooltipStyle } from '../kit/chart/tooltipStyle.js';
import { BarCursor } from './BarCursor.js';

/** One colour of the stack. */
export interface Layer {
  /** Its key: names may be the same. */
  readonly id: string;
  readonly name: string;
  readonly colour: string;
  /** One for each piece of time. */
  readonly values: readonly number[];
}

export interface StackedChartProps {
  readonly title: string;
  /** When the pieces of time begin, unix seconds. */
  readonly starts: readonly number[];
  readonly layers: readonly Layer[];
  readonly clock: (at: number) => string;
  readonly format: (value: number) => string;
  /** Into the log, to what a bar is made of: by its places in `layers` and `starts`. */
  readonly linkOf: (layer: number, piece: number) => string;
}

/** What there was in each piece of time, by what it is made of; each bar leads there. */
export function StackedChart({ title, starts, layers, clock, format, linkOf }: StackedChartProps) {
  const navigate = useNavigate();
  const data = starts.map((start, piece) => ({
    start,
    ...Object.fromEntries(layers.map(({ values }, layer) => [`layer${layer}`, values[piece] ?? 0])),
  }));
  return (
    <div className="stacked-chart">
      <div role="img" aria-label={title} className="chart panel-chart">
        <ResponsiveContainer width="100%" height={200}>
          <BarChart
            data={data}
            margin={{ top: 8, right: 8, bottom: 0, left: 0 }}
            // What was lost stands below the axis.
            stackOffset="sign"
            accessibilityLayer={false}
          >
            <CartesianGrid vertical={false} />
            <XAxis dataKey="start" {...timeAxis(clock)} />
            <YAxis {...figureAxis(format)} />
            <Tooltip
              isAnimationActive={false}
              contentStyle={tooltipStyle}
              cursor={{ className: 'chart-cursor' }}
              labelFormatter={(at) => clock(Number(at))}
              formatter={(value, name) => [format(Number(value)), name]}
            />
            {layers.map(({ id, name, colour }, layer) => (
              <Bar
                key={id}
                name={name}
                dataKey={`layer${layer}`}
                stackId="all"
                fill={colour}
                className="chart-bar"
                isAnimationActive={false}
                onClick={(_, piece) => void navigate(linkOf(layer, piece))}
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
      <BarCursor starts={starts} layers={layers} clock={clock} format={format} linkOf={linkOf} />
    </div>
  );
}
