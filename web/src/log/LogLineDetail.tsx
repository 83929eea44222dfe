import { useQuery } from '@apollo/client/react';
import { Callout } from '@blueprintjs/core';
import { useEffect } from 'react';
import { Link } from 'react-router-dom';
import { LogLineDocument } from '../generated/log/log.js';
import { CopyButton } from '../kit/CopyButton.js';
import { Fact, Facts } from '../kit/Facts.js';
import { formatDuration, formatExactly } from '../kit/figures.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { QuotaText } from '../kit/QuotaText.js';
import { refusalTexts } from '../kit/refusal/refusal.texts.js';
import { causeOf } from '../kit/refusal/refusals.js';
import { formatTime } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { BillingProcess } from './BillingProcess.js';
import type { LogLine } from './billing.js';
import { logTexts } from './log.texts.js';
import { callAddress } from './requestId.js';

interface LogLineDetailProps {
  readonly id: string;
  readonly admin: boolean;
  /** Called when the line begins to be read; what it returns, when it is closed. */
  readonly onRead: () => () => void;
}

/** All there is to know about one line: the whole of its row, how it was served, how it was charged. */
export function LogLineDetail({ id, admin, onRead }: LogLineDetailProps) {
  const t = useText(logTexts);
  useEffect(onRead, [onRead]);
  const { data, loading, error, refetch } = useQuery(LogLineDocument, {
    // Ids are cursors: the first line older than the next id is the line itself.
    variables: { everyone: admin, admin, after: String(BigInt(id) + 1n) },
  });
  if (data === undefined) return <QueryNotice loading={loading} error={error} refetch={refetch} />;
  const line = data.usageLog.edges[0]?.node;
  if (line?.id !== id)
    return (
      <Callout compact intent="warning">
        {t('line.gone')}
      </Callout>
    );
  return (
    <div className="log-line">
      <LineFacts line={line} />
      <BillingProcess line={line} />
    </div>
  );
}

export const LineFacts = ({ line }: { readonly line: LogLine }) => (
  <Facts>
    <CallFacts line={line} />
    <UsageFacts line={line} />
    <OtherFacts line={line} />
  </Facts>
);

function CallFacts({ line }: { readonly line: LogLine }) {
  const t = useText(logTexts);
  const { requestId, path, model, upstreamModel, channelId, channelName, attempts, outcome, firstTokenMs } = line;
  const channel = channelId && (channelName ? `${channelId} · ${channelName}` : t('channelGone', { id: channelId }));
  return (
    <>
      <Fact name={t('line.requestId')}>
        {requestId !== null && (
          <span className="log-copied">
            <Link to={callAddress(requestId)} title={t('line.open')}>
              <code>{requestId}</code>
            </Link>
            <CopyButton text={requestId} label={t('statistics.copy', { name: t('line.requestId') })} />
          </span>
        )}
      </Fact>
      <Fact name={t('column.user')}>{line.username}</Fact>
      <Fact name={t('column.token')}>{line.apiKeyName}</Fact>
      <Fact name={t('column.group')}>{line.group}</Fact>
      <Fact name={t('line.path')}>{path !== null && <code>{path}</code>}</Fact>
      <Fact name={t('column.model')}>
        {upstreamModel === null ? model : t('model.both', { requested: model, actual: upstreamModel })}
      </Fact>
      <Fact name={t('line.alias')}>{line.alias}</Fact>
      <Fact name={t('line.effort')}>{line.reasoningEffort}</Fact>
      <Fact name={t('line.channel')}>{channel}</Fact>
      <Fact name={t('line.retry')}>{attempts && attempts.length > 1 && attempts.join(' → ')}</Fact>
      <FailedAttempts line={line} />
      <Fact name={t('line.outcome')}>{outcome !== null && t(`outcome.${outcome}`)}</Fact>
      <Fact name={t('column.duration')}>
        {requestId !== null &&
          line.detail?.__typename !== 'RefusalDetail' &&
          [line.useTimeMs, firstTokenMs]
            .flatMap((ms) => (ms === null ? [] : formatDuration(ms)))
            .concat(t(line.isStream ? 'stream' : 'notStream'))
            .join(' / ')}
      </Fact>
    </>
  );
}

/** Who was asked in vain, whatever became of the call. */
function FailedAttempts({ line: { failedAttempts } }: { readonly line: LogLine }) {
  const t = useText(logTexts);
  if (!failedAttempts?.length) return null;
  return (
    <Fact name={t('line.failed')}>
      <ul className="log-attempts">
        {failedAttempts.map(({ channelId, channelName, status, code, durationMs }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a channel may have been asked twice, and the order is for ever
          <li key={index}>
            {channelName === null ? t('channelGone', { id: channelId }) : `${channelId} · ${channelName}`}
            {': '}
            <span className="figures">{status ?? t('line.noAnswer')}</span> {code !== null && <code>{code}</code>}{' '}
            <span className="figures">{formatDuration(durationMs)}</span>
          </li>
        ))}
      </ul>
    </Fact>
  );
}

function UsageFacts({ line }: { readonly line: LogLine }) {
  const t = useText(logTexts);
  const counted = [
    [t('column.input'), line.promptTokens],
    [t('column.image'), line.imageTokens],
    [t('line.cacheRead'), line.cachedTokens],
    [t('line.cacheWrite'), line.cacheWriteTokens],
    [t('column.output'), line.completionTokens],
    [t('column.reasoning'), line.reasoningTokens],
  ] as const;
  return (
    <>
      {counted.map(([name, tokens]) => (
        <Fact key={name} name={name}>
          {tokens > 0 && <span className="figures">{formatExactly(tokens)}</span>}
        </Fact>
      ))}
      <Fact name={t('line.uncovered')}>{line.uncovered > 0 && <QuotaText quota={line.uncovered} />}</Fact>
      <Fact name={t('line.upstreamCost')}>
        {line.upstreamCost && <span className="figures">${line.upstreamCost}</span>}
      </Fact>
      <Fact name={t('line.cost')}>{line.cost && <span className="figures">${line.cost.cost}</span>}</Fact>
      <Fact name={t('line.margin')}>{line.cost && <span className="figures">${line.cost.margin}</span>}</Fact>
      <Fact name={t('line.usageSource')}>{line.usageSource !== null && t(`source.${line.usageSource}`)}</Fact>
    </>
  );
}

function OtherFacts({ line: { detail } }: { readonly line: LogLine }) {
  const t = useText(logTexts);
  const refusal = useText(refusalTexts);
  if (detail === null) return null;
  if ('delta' in detail && 'gift' in detail)
    return (
      <>
        <Fact name={t('line.reason')}>{t('adjusted')}</Fact>
        <Fact name={t('line.delta')}>
          <QuotaText quota={detail.delta} />
        </Fact>
        <Fact name={t('line.gift')}>{detail.gift !== 0 && <QuotaText quota={detail.gift} />}</Fact>
        <Fact name={t('line.observed')}>
          <QuotaText quota={detail.observed} />
        </Fact>
        <Fact name={t('line.by')}>{detail.by}</Fact>
      </>
    );
  if (detail.__typename === 'GrantDetail')
    return (
      <>
        <Fact name={t('line.reason')}>{t(`granted.${detail.grantReason}`)}</Fact>
        <Fact name={t('line.delta')}>
          <QuotaText quota={detail.quota} />
        </Fact>
      </>
    );
  if (detail.__typename === 'TopUpDetail')
    return (
      <>
        <Fact name={t('line.reason')}>{t('toppedUp', { money: detail.money, currency: detail.currency })}</Fact>
        <Fact name={t('line.delta')}>
          <QuotaText quota={detail.quota} />
        </Fact>
      </>
    );
  if (detail.__typename === 'TopUpReturnDetail')
    return (
      <>
        <Fact name={t('line.reason')}>
          {t(`returned.${detail.cause}`, { money: detail.money, currency: detail.currency })}
        </Fact>
        <Fact name={t('line.delta')}>
          <QuotaText quota={detail.quota} />
        </Fact>
      </>
    );
  if (detail.__typename === 'TaskRefundDetail')
    return (
      <>
        <Fact name={t('line.reason')}>{t('taskRefunded', { id: detail.publicId })}</Fact>
        <Fact name={t('line.delta')}>
          <QuotaText quota={detail.quota} />
        </Fact>
      </>
    );
  if (detail.__typename === 'CorrectionDetail')
    return (
      <>
        <Fact name={t('line.reason')}>{t(`corrected.${detail.part}`)}</Fact>
        <Fact name={t('line.delta')}>
          <QuotaText quota={detail.quota} />
        </Fact>
        <Fact name={t('line.repair')}>{detail.repairId}</Fact>
      </>
    );
  if (detail.__typename === 'RedemptionDetail')
    return (
      <>
        <Fact name={t('line.reason')}>{t('redeemed', { id: detail.redemptionId })}</Fact>
        <Fact name={t('line.delta')}>
          <QuotaText quota={detail.quota} />
        </Fact>
      </>
    );
  if (detail.__typename === 'RefusalDetail') {
    const cause = causeOf(detail.refusedStatus, detail.refusedCode);
    return (
      <>
        <Fact name={t('line.reason')}>{refusal(cause)}</Fact>
        <Fact name={t('line.advice')}>{refusal(`${cause}.advice`)}</Fact>
        <Fact name={t('line.status')}>{detail.refusedStatus !== 0 && detail.refusedStatus}</Fact>
        <Fact name={t('line.code')}>
          <code>{detail.refusedCode}</code>
        </Fact>
        <Fact name={t('line.network')}>{detail.network}</Fact>
        <Fact name={t('line.count')}>
          {detail.since !== null &&
            t('line.countSince', { count: formatExactly(detail.count), since: formatTime(detail.since) })}
        </Fact>
      </>
    );
  }
  if (detail.__typename === 'ReleaseDetail')
    return (
      <>
        <Fact name={t('line.reason')}>{t(`released.${detail.releaseReason}`)}</Fact>
        <Fact name={t('line.status')}>{detail.status}</Fact>
        <Fact name={t('line.code')}>{detail.code !== null && <code>{detail.code}</code>}</Fact>
      </>
    );
  return null;
}
