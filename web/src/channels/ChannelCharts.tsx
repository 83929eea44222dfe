import { useNavigate } from 'react-router-dom';
import { Bar, BarChart, CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { ChannelFiguresQuery } from '../generated/channels/channelPage.js';
import { figureAxis, timeAxis } from '../kit/chart/axes.js';
import { tooltipStyle } from '../kit/chart/tooltipStyle.js';
import { abbreviate, formatDuration } from '../kit/figures.js';
import { formatQuota } from '../kit/quota.js';
import { useQuotaUnits } from '../kit/SessionProvider.js';
import { formatClock, formatDay, formatDayAndClock, formatMinute } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { endOf, logAddress, type Piece, type Span } from './channelFigures.js';
import { channelPageTexts } from './channelPage.texts.js';

interface ChannelChartsProps {
  readonly id: string;
  readonly span: Span;
  readonly history: ChannelFiguresQuery['usageHistory'];
}

type Figure = 'requests' | 'errors' | 'quota';

/** Each bar leads to the lines of the log that it counts. */
export function ChannelCharts(charts: ChannelChartsProps) {
  const t = useText(channelPageTexts);
  const units = useQuotaUnits();
  const money = (quota: number): string => formatQuota(quota, units, 4);
  return (
    <div className="channel-charts">
      <Chart {...charts} title={t('chart.calls')} figures={['requests', 'errors']} format={abbreviate} />
      <Chart {...charts} title={t('figure.quota')} figures={['quota']} format={money} />
      <Chart {...charts} title={t('chart.duration')} percentiles="latency" format={formatDuration} />
      <Chart {...charts} title={t('chart.firstToken')} percentiles="firstToken" format={formatDuration} />
    </div>
  );
}

const colours = { requests: 'blue', errors: 'red', quota: 'green', latency: 'orange', firstToken: 'teal' } as const;

type Drawn =
  /** Bars, one upon the other. */
  | { readonly figures: readonly Figure[]; readonly percentiles?: undefined }
  /** Lines of the median and the 95th percentile. */
  | { readonly percentiles: 'latency' | 'firstToken'; readonly figures?: undefined };

type ChartProps = ChannelChartsProps &
  Drawn & {
    readonly title: string;
    readonly format: (value: number) => string;
  };

const margin = { top: 8, right: 8, bottom: 0, left: 0 };

function Chart({ id, span, history, title, figures, percentiles, format }: ChartProps) {
  const t = useText(channelPageTexts);
  const navigate = useNavigate();
  const names = {
    requests: t('figure.requests'),
    errors: t('figure.errors'),
    quota: t('figure.quota'),
  } as const satisfies Record<Figure, string>;
  const pieces = [...history.pieces];
  const isLong = history.to - history.from > 2 * 24 * 3_600;
  const clock = span.interval === 'DAY' ? formatDay : isLong ? formatDayAndClock : formatClock;
  const openLog = (figure: Figure, index: number): void => {
    const piece = pieces[index];
    if (piece === undefined) return;
    const type = figure === 'errors' ? 'ERROR' : 'CONSUME';
    void navigate(logAddress({ channel: id, from: piece.start, to: endOf(history, index), type }));
  };
  const axes = [
    <CartesianGrid key="grid" vertical={false} />,
    <XAxis key="x" dataKey="start" {...timeAxis(clock)} />,
    <YAxis key="y" {...figureAxis(format)} allowDecimals={false} />,
    <Tooltip
      key="tooltip"
      isAnimationActive={false}
      contentStyle={tooltipStyle}
      cursor={{ className: 'chart-cursor' }}
      labelFormatter={(at) => formatMinute(Number(at))}
      formatter={(value) => format(Number(value))}
    />,
  ];
  return (
    <figure className="channel-chart">
      <figcaption>{title}</figcaption>
      <div role="img" aria-label={title} className={`chart chart-${percentiles ? colours[percentiles] : 'blue'}`}>
        <ResponsiveContainer width="100%" height={170}>
          {percentiles !== undefined ? (
            <LineChart data={pieces} margin={margin} accessibilityLayer={false}>
              {axes}
              {(['p50', 'p95'] as const).map((percentile) => (
                <Line
                  key={percentile}
                  name={percentile.toUpperCase()}
                  dataKey={(piece: Piece) => piece[percentiles][percentile]}
                  stroke="var(--chart)"
                  strokeWidth={percentile === 'p50' ? 1.75 : 1.25}
                  strokeDasharray={percentile === 'p50' ? undefined : '3 3'}
                  dot={{ r: 1.5 }}
                  connectNulls
                  isAnimationActive={false}
                />
              ))}
            </LineChart>
          ) : (
            <BarChart data={pieces} margin={margin} accessibilityLayer={false}>
              {axes}
              {figures.map((figure) => (
                <Bar
                  key={figure}
                  name={names[figure]}
                  dataKey={figure}
                  stackId="all"
                  className={`chart-${colours[figure]} channel-bar`}
                  fill="var(--chart)"
                  isAnimationActive={false}
                  onClick={(_, index) => openLog(figure, index)}
                />
              ))}
            </BarChart>
          )}
        </ResponsiveContainer>
      </div>
    </figure>
  );
}
