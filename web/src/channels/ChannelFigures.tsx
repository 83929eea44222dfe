import { useQuery } from '@apollo/client/react';
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from 'react';
import { Link } from 'react-router-dom';
import { ChannelFiguresDocument, type ChannelFiguresQuery } from '../generated/channels/channelPage.js';
import { abbreviate, formatDuration, formatExactly, formatPercent } from '../kit/figures.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { QuotaText } from '../kit/QuotaText.js';
import { Section } from '../kit/Section.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import { SelectFilter } from '../kit/table/FilterBar.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useListParams } from '../kit/table/useListParams.js';
import { formatMinute, ownTimeZone } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { attemptsOf, isRange, logAddress, type Range, ranges, type Span, spanOf } from './channelFigures.js';
import { channelPageTexts } from './channelPage.texts.js';

const ChannelCharts = lazy(async () => ({ default: (await import('./ChannelCharts.js')).ChannelCharts }));

const everyMs = 60_000;
const present = (): number => Math.floor(Date.now() / 1_000);

/** The range that the address names, up to the present minute. */
function useSpan(): { readonly range: Range; readonly choose: (range: Range) => void; readonly span: Span } {
  const [params, setParams] = useListParams({ range: '24h' });
  const range = isRange(params.range) ? params.range : '24h';
  const [now, setNow] = useState(present);
  useEffect(() => {
    const moving = setInterval(() => {
      if (!document.hidden) setNow(present());
    }, everyMs);
    return () => clearInterval(moving);
  }, []);
  const zone = ownTimeZone();
  const span = useMemo(() => spanOf(range, now, zone), [range, now, zone]);
  return { range, choose: (chosen) => setParams({ range: chosen }), span };
}

/** How a channel did: calls, errors, cost, durations, and what its attempts failed for. */
export function ChannelFigures({ id }: { readonly id: string }) {
  const t = useText(channelPageTexts);
  const { range, choose, span } = useSpan();
  const result = useQuery(ChannelFiguresDocument, { variables: { id, ...span }, fetchPolicy: 'network-only' });
  const figures = result.data ?? result.previousData;
  return (
    <Section title={t('figures')}>
      <div className="channel-range">
        <SelectFilter
          label={t('range')}
          value={range}
          options={ranges.map((one) => ({ value: one, label: t(`range.${one}`) }))}
          onChange={choose}
        />
      </div>
      {figures === undefined ? (
        <QueryNotice {...result} />
      ) : (
        <>
          <Tiles id={id} span={span} figures={figures} />
          <Suspense fallback={<div className="channel-charts" />}>
            <ChannelCharts id={id} span={span} history={figures.usageHistory} />
          </Suspense>
          <h3 className="channel-heading">{t('failuresSince', { time: formatMinute(span.wholeHoursFrom) })}</h3>
          <Failures causes={figures.channelFailures} />
        </>
      )}
    </Section>
  );
}

interface TilesProps {
  readonly id: string;
  readonly span: Span;
  readonly figures: ChannelFiguresQuery;
}

function Tiles({ id, span, figures }: TilesProps) {
  const t = useText(channelPageTexts);
  const { from, to, total } = figures.usageHistory;
  const { requests, errors, quota, latency, firstToken } = total;
  const { failures, rescued, success } = attemptsOf(figures, span);
  const log = { channel: id, from, to: to - 1 } as const;
  return (
    <dl className="channel-tiles">
      <Tile name={t('figure.requests')} to={logAddress({ ...log, type: 'CONSUME' })}>
        <Count value={requests} />
      </Tile>
      <Tile name={t('figure.errors')} to={logAddress({ ...log, type: 'ERROR' })}>
        <Count value={errors} />
      </Tile>
      <Tile name={t('figure.quota')} to={logAddress({ ...log, type: 'CONSUME' })}>
        <QuotaText quota={quota} digits={4} />
      </Tile>
      <Tile
        name={t('figure.duration')}
        hint={t('figure.percentiles', { p50: formatDuration(latency.p50), p99: formatDuration(latency.p99) })}
        to={logAddress({ ...log, type: 'CONSUME' })}
      >
        {formatDuration(latency.p95)}
      </Tile>
      <Tile
        name={t('figure.firstToken')}
        hint={t('figure.percentiles', { p50: formatDuration(firstToken.p50), p99: formatDuration(firstToken.p99) })}
        to={logAddress({ ...log, type: 'CONSUME' })}
      >
        {formatDuration(firstToken.p95)}
      </Tile>
      {success !== null && (
        <Tile name={t('figure.success')} hint={t('figure.successHint', { failures, rescued })}>
          {formatPercent(success)}
        </Tile>
      )}
    </dl>
  );
}

const Count = ({ value }: { readonly value: number }) => <span title={formatExactly(value)}>{abbreviate(value)}</span>;

interface TileProps {
  readonly name: string;
  readonly hint?: string;
  /** Left out: no line of the log is about it. */
  readonly to?: string;
  readonly children: ReactNode;
}

const Tile = ({ name, hint, to, children }: TileProps) => (
  <div>
    <dt>{name}</dt>
    <dd className="figures">
      {to === undefined ? children : <Link to={to}>{children}</Link>}
      {hint !== undefined && <div className="channel-tile-hint">{hint}</div>}
    </dd>
  </div>
);

type Cause = ChannelFiguresQuery['channelFailures'][number];

function Failures({ causes }: { readonly causes: readonly Cause[] }) {
  const t = useText(channelPageTexts);
  const columns = useMemo<readonly Column<Cause>[]>(
    () => [
      {
        id: 'cause',
        header: t('failures.cause'),
        heading: true,
        cell: ({ status, code }) => (
          <>
            {status === 0 ? t('failures.noAnswer') : status} <span className="channel-code">{code}</span>
          </>
        ),
      },
      { id: 'failures', header: t('failures.count'), align: 'end', cell: ({ failures }) => <Count value={failures} /> },
      {
        id: 'rescued',
        header: t('failures.rescued'),
        align: 'end',
        priority: 2,
        cell: ({ rescued }) => <Count value={rescued} />,
      },
      {
        id: 'last',
        header: t('failures.last'),
        cell: ({ lastAt, lastRequestId }) => (
          <Link to={`/log/${lastRequestId}`}>
            <Time at={lastAt} />
          </Link>
        ),
      },
    ],
    [t],
  );
  return (
    <ResourceTable
      label={t('failures')}
      columns={columns}
      rows={causes}
      rowKey={({ status, code }) => `${status} ${code}`}
      empty={t('failures.none')}
    />
  );
}
