import { Tag, Tooltip } from '@blueprintjs/core';
import { SwapHorizontal } from '@blueprintjs/icons';
import { useMemo } from 'react';
import { Link } from 'react-router-dom';
import type { LogRowFragment, LogType } from '../generated/log/log.js';
import { CopiedText } from '../kit/CopiedText.js';
import { CutText } from '../kit/CutText.js';
import { formatDuration, formatExactly } from '../kit/figures.js';
import { QuotaText } from '../kit/QuotaText.js';
import { refusalTexts } from '../kit/refusal/refusal.texts.js';
import { StatusTag } from '../kit/StatusTag.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import { DrawerLink } from '../kit/table/DrawerLink.js';
import { itemOf } from '../kit/table/openItem.js';
import { type Translate, useText } from '../kit/words/i18n.js';
import { amountOf, detailText } from './detailText.js';
import { durationIntent, firstTokenIntent } from './durations.js';
import { logTexts } from './log.texts.js';
import type { logZh } from './log.zh.js';
import { callAddress } from './requestId.js';

type Row = LogRowFragment;
type T = Translate<typeof logZh>;

const typeIntents = {
  RECHARGE: 'primary',
  CONSUME: 'success',
  MANAGE: 'warning',
  SYSTEM: 'none',
  ERROR: 'danger',
} as const satisfies Record<LogType, string>;

/**
 * Columns about channels and other users are for administrators; nobody else is sent what they show. To make room for
 * them, administrators begin without some others.
 */
export function useLogColumns(admin: boolean): readonly Column<Row>[] {
  const t = useText(logTexts);
  const refusal = useText(refusalTexts);
  return useMemo(() => {
    const columns: (Column<Row> & { readonly adminOnly?: true })[] = [
      { id: 'time', header: t('column.time'), cell: timeCell, fixed: true },
      { id: 'channel', header: t('column.channel'), cell: (row) => channelCell(row, t), priority: 3, adminOnly: true },
      {
        id: 'user',
        header: t('column.user'),
        cell: ({ userId, username }) =>
          userId && (
            <DrawerLink open={itemOf('user', userId)}>
              <CutText text={username || userId} />
            </DrawerLink>
          ),
        priority: 2,
        adminOnly: true,
      },
      {
        id: 'token',
        header: t('column.token'),
        cell: ({ apiKeyName }) => <CopiedText text={apiKeyName} label={t('copy.token', { name: apiKeyName })} />,
        priority: 2,
      },
      {
        id: 'group',
        header: t('column.group'),
        cell: ({ group }) => group && <Tag minimal>{group}</Tag>,
        priority: 3,
        initiallyHidden: admin,
      },
      {
        id: 'type',
        header: t('column.type'),
        cell: ({ type }) => <StatusTag intent={typeIntents[type]}>{t(`type.${type}`)}</StatusTag>,
        priority: 2,
      },
      { id: 'model', header: t('column.model'), cell: (row) => <ModelCell row={row} /> },
      { id: 'duration', header: t('column.duration'), cell: (row) => durationCell(row, t), priority: 2 },
      figureColumn('input', t('column.input'), ({ promptTokens }) => promptTokens, 2),
      { ...figureColumn('image', t('column.image'), ({ imageTokens }) => imageTokens, 3), initiallyHidden: true },
      {
        ...figureColumn('cache', t('column.cache'), cachedTokens, 3),
        cell: (row) => cacheCell(row, t),
        initiallyHidden: admin,
      },
      figureColumn('output', t('column.output'), ({ completionTokens }) => completionTokens, 2),
      {
        ...figureColumn('reasoning', t('column.reasoning'), ({ reasoningTokens }) => reasoningTokens, 3),
        initiallyHidden: admin,
      },
      { id: 'cost', header: t('column.cost'), cell: costCell, align: 'end', pinned: true },
      {
        id: 'margin',
        header: t('line.margin'),
        cell: ({ cost }) => cost && <span className="figures">${cost.margin}</span>,
        align: 'end',
        priority: 3,
        adminOnly: true,
        initiallyHidden: true,
      },
      { id: 'retry', header: t('column.retry'), cell: retryCell, priority: 3, adminOnly: true },
      {
        id: 'details',
        header: t('column.details'),
        cell: (row) => detailText(row, t, refusal),
        wraps: true,
        priority: 2,
      },
    ];
    return columns.filter(({ adminOnly = false }) => admin || !adminOnly);
  }, [t, refusal, admin]);
}

const cachedTokens = (row: Row): number => row.cachedTokens + row.cacheWriteTokens;

/** A figure; where there is none, nothing: noughts would hide the figures among them. */
const figureColumn = (id: string, header: string, of: (row: Row) => number, priority: 2 | 3): Column<Row> => ({
  id,
  header,
  cell: (row) => (of(row) === 0 ? null : <span className="figures">{formatExactly(of(row))}</span>),
  align: 'end',
  priority,
});

/** What is about a request leads to its page. */
const timeCell = ({ createdAt, requestId }: Row) =>
  requestId === null ? (
    <Time at={createdAt} />
  ) : (
    <Link to={callAddress(requestId)}>
      <Time at={createdAt} />
    </Link>
  );

function channelCell({ channelId, channelName }: Row, t: T) {
  if (!channelId) return null;
  const name = channelName || t('channelGone', { id: channelId });
  return (
    <Link to={`/channel/${channelId}`}>
      <CutText text={channelName ? `${channelId} · ${channelName}` : name} />
    </Link>
  );
}

function ModelCell({ row: { model, upstreamModel } }: { readonly row: Row }) {
  const t = useText(logTexts);
  if (model === '') return null;
  const name = <CopiedText text={model} label={t('copy.model', { name: model })} />;
  if (upstreamModel === null) return name;
  const both = t('model.both', { requested: model, actual: upstreamModel });
  return (
    <span className="log-model">
      {name}
      <Tooltip content={both} minimal compact>
        <SwapHorizontal size={12} title={both} />
      </Tooltip>
    </span>
  );
}

function durationCell({ type, model, useTimeMs, firstTokenMs, isStream }: Row, t: T) {
  if (model === '' || (type !== 'CONSUME' && type !== 'ERROR')) return null;
  const total = formatDuration(useTimeMs);
  const first = firstTokenMs === null ? null : formatDuration(firstTokenMs);
  return (
    <span className="log-duration" title={first === null ? total : t('duration.hint', { total, first })}>
      <Tag minimal intent={durationIntent(useTimeMs)} className="figures">
        {total}
      </Tag>
      {firstTokenMs !== null && isStream && (
        <Tag minimal intent={firstTokenIntent(firstTokenMs)} className="figures">
          {first}
        </Tag>
      )}
      <Tag minimal intent={isStream ? 'primary' : 'none'}>
        {t(isStream ? 'stream' : 'notStream')}
      </Tag>
    </span>
  );
}

function cacheCell(row: Row, t: T) {
  if (cachedTokens(row) === 0) return null;
  const read = formatExactly(row.cachedTokens);
  const write = formatExactly(row.cacheWriteTokens);
  return (
    <span className="figures" title={t('cache.hint', { read, write })}>
      {row.cacheWriteTokens === 0 ? read : `${read} / ${write}`}
    </span>
  );
}

/** A charge; with a sign, what was given or taken. */
function costCell(row: Row) {
  const amount = amountOf(row);
  if (amount === null) return null;
  if (row.type === 'CONSUME') return <QuotaText quota={amount} digits={6} />;
  return (
    <span className="figures">
      {amount > 0 && '+'}
      <QuotaText quota={amount} />
    </span>
  );
}

/** Only what was tried more than once is news. */
const retryCell = ({ attempts }: Row) =>
  attempts && attempts.length > 1 ? <span className="figures">{attempts.join(' → ')}</span> : null;
