import { useQuery } from '@apollo/client/react';
import { Card, Classes } from '@blueprintjs/core';
import { lazy, Suspense, useMemo } from 'react';
import { FailureHistoryDocument, type FailureHistoryQuery } from '../generated/dashboard/history.js';
import { abbreviate, formatExactly, formatPercent } from '../kit/figures.js';
import { logLink } from '../kit/logLink.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { refusalTexts } from '../kit/refusal/refusal.texts.js';
import { causeOf } from '../kit/refusal/refusals.js';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { formatMinute, ownTimeZone } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { Growth } from './Growth.js';
import { colourOf } from './historyColours.js';
import { clockOf, endOf, failureRangeOf, type HistoryRange } from './historyRange.js';
import { linked, ShareName } from './ShareName.js';

const StackedChart = lazy(async () => ({ default: (await import('./StackedChart.js')).StackedChart }));

type Found = FailureHistoryQuery['usageFailureHistory'];
type FailureShare = Found['shares'][number];

interface Cause {
  readonly key: string;
  readonly name: string;
  /** Status and code. */
  readonly returned: string;
  readonly colour: string;
  readonly failures: number;
  /** Of all failures: 0 to 1. */
  readonly part: number;
  /** Into the log; null: it cannot be asked for these. */
  readonly link: string | null;
}

/** Unix seconds, `to` exclusive. The log knows failures by their code; without one, all of that time. */
const linkOf = (code: string | null, from: number, to: number): string =>
  logLink({ from, to, type: 'ERROR', ...(code !== null && { code }) });

/** Why calls got nowhere: refused before anything was reserved for them, or failed after that. */
export function FailureHistory({ range, admin }: { readonly range: HistoryRange; readonly admin: boolean }) {
  const t = useText(dashboardTexts);
  const { isWidened, ...times } = useMemo(() => failureRangeOf(range), [range]);
  const result = useQuery(FailureHistoryDocument, {
    variables: { ...times, zone: ownTimeZone(), everyone: admin },
    fetchPolicy: 'cache-and-network',
  });
  const found = result.data ?? result.previousData;
  const history = found?.usageFailureHistory;
  const causes = useCauses(history, times.from);
  const starts = history?.starts ?? [];
  const end = history?.to ?? times.to;
  const linkOfBar = (layer: number, piece: number): string =>
    linkOf(history?.shares[layer]?.code ?? null, starts[piece] ?? times.from, endOf(starts, piece, end));
  const skeleton = <div className={`chart-place panel-chart ${Classes.SKELETON}`} />;
  return (
    <Card className="panel" role="region" aria-labelledby="failures-title">
      <h3 className="panel-title" id="failures-title">
        {t('failures.title')}
      </h3>
      {result.error !== undefined && <QueryNotice {...result} />}
      {found !== undefined && (
        <p
          className="panel-note"
          title={t('history.earlier', { span: `${formatMinute(times.earlier)} – ${formatMinute(times.earlierEnd)}` })}
        >
          {t('failures.total', { count: formatExactly(found.usageFailureHistory.total) })} ·{' '}
          {t('history.before', { value: formatExactly(found.before.total) })}{' '}
          <Growth now={found.usageFailureHistory.total} before={found.before.total} />
          {isWidened &&
            ` · ${t('failures.widened', { span: `${formatMinute(times.from)} – ${formatMinute(times.to)}` })}`}
        </p>
      )}
      {history === undefined ? (
        result.error === undefined && skeleton
      ) : (
        <>
          {history.total > 0 && (
            <Suspense fallback={skeleton}>
              <StackedChart
                title={t('failures.chart')}
                starts={starts}
                layers={history.shares.map(({ pieces }, index) => ({
                  id: causes[index]?.key ?? '',
                  name: causes[index]?.name ?? '',
                  colour: causes[index]?.colour ?? '',
                  values: pieces,
                }))}
                clock={clockOf(times.interval)}
                format={abbreviate}
                linkOf={linkOfBar}
              />
            </Suspense>
          )}
          <CauseTable causes={causes} />
        </>
      )}
    </Card>
  );
}

/** `from`: where the range begins, unix seconds. */
function useCauses(history: Found | undefined, from: number): readonly Cause[] {
  const t = useText(dashboardTexts);
  const refusal = useText(refusalTexts);
  return useMemo(() => {
    if (history === undefined) return [];
    const nameOf = ({ kind, status, code }: FailureShare): string => {
      if (kind === null) return t('history.others');
      const cause = causeOf(status ?? 0, code ?? '');
      // What upstream has returned has no words of ours.
      return kind === 'FAILED' && (cause === 'other' || cause === 'invalid') ? t('failures.failed') : refusal(cause);
    };
    return history.shares.map((share, index) => {
      const { kind, status, code, failures } = share;
      const returned = [status, code].filter((part) => part !== null).join(' ');
      return {
        key: `${kind} ${returned}`,
        name: nameOf(share),
        returned: kind !== null && returned === '' ? t('failures.nothingReturned') : returned,
        colour: colourOf(index, kind === null),
        failures,
        part: failures / history.total,
        link: code === null ? null : linkOf(code, history.starts[0] ?? from, history.to),
      };
    });
  }, [history, from, t, refusal]);
}

/** Also says what the colours of the chart mean. */
function CauseTable({ causes }: { readonly causes: readonly Cause[] }) {
  const t = useText(dashboardTexts);
  const columns = useMemo<readonly Column<Cause>[]>(
    () => [
      {
        id: 'cause',
        header: t('failures.cause'),
        heading: true,
        cell: ({ name, colour, link }) => <ShareName name={name} colour={colour} to={link} />,
      },
      {
        id: 'returned',
        header: t('failures.returned'),
        cell: ({ returned }) => <code className="returned">{returned}</code>,
      },
      {
        id: 'count',
        header: t('refused.count'),
        align: 'end',
        cell: ({ failures, link }) => linked(link, formatExactly(failures)),
      },
      { id: 'part', header: t('history.part'), align: 'end', priority: 2, cell: ({ part }) => formatPercent(part) },
    ],
    [t],
  );
  return (
    <ResourceTable
      label={t('failures.title')}
      columns={columns}
      rows={causes}
      rowKey={({ key }) => key}
      empty={t('failures.none')}
    />
  );
}
