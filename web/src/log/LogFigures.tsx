import { useQuery } from '@apollo/client/react';
import { Callout, Tag } from '@blueprintjs/core';
import { LogFiguresDocument, type LogFiguresQuery, type UsageLogFilterInput } from '../generated/log/log.js';
import { CopyButton } from '../kit/CopyButton.js';
import { abbreviate, formatExactly } from '../kit/figures.js';
import { LiveBadge } from '../kit/live/LiveBadge.js';
import { QuotaText } from '../kit/QuotaText.js';
import { useText } from '../kit/words/i18n.js';
import { logTexts } from './log.texts.js';

interface LogFiguresProps {
  readonly filter: UsageLogFilterInput;
  readonly everyone: boolean;
  /** Lines are arriving. */
  readonly live: boolean;
}

/** So that what is shown is never two seconds old; the rates change whatever range is looked at. */
const everyMs = 1_500;

/** What the lines of the filter come to; for administrators also their tokens. */
export function LogFigures({ filter, everyone, live }: LogFiguresProps) {
  const t = useText(logTexts);
  const { data, error } = useQuery(LogFiguresDocument, {
    variables: { filter, everyone },
    fetchPolicy: 'cache-and-network',
    pollInterval: everyMs,
    skipPollAttempt: () => document.hidden,
  });
  const figures = data?.logStatistics;
  return (
    <section className="log-figures" aria-label={t('statistics')}>
      <div className="log-badges">
        <Tag large minimal intent="primary">
          {t('quota')} {figures === undefined ? '…' : <QuotaText quota={figures.quota} digits={4} />}
        </Tag>
        <Tag large minimal intent="danger" title={t('rpm.hint')}>
          {t('rpm')} {figures === undefined ? '…' : <Figure value={figures.rpm} />}
        </Tag>
        <Tag large minimal title={t('tpm.hint')}>
          {t('tpm')} {figures === undefined ? '…' : <Figure value={figures.tpm} />}
        </Tag>
        {figures !== undefined && figures.testRequests > 0 && (
          <Tag large minimal title={t('tests.hint')}>
            {t('tests', { requests: formatExactly(figures.testRequests) })}{' '}
            <QuotaText quota={figures.testQuota} digits={4} />
          </Tag>
        )}
        {live && <LiveBadge />}
      </div>
      {everyone && figures !== undefined && <TokenStatistics figures={figures} />}
      {error !== undefined && data === undefined && (
        <Callout compact intent="warning">
          {t('statistics.failed')}
        </Callout>
      )}
    </section>
  );
}

const Figure = ({ value }: { readonly value: number }) => (
  <span className="figures" title={formatExactly(value)}>
    {abbreviate(value)}
  </span>
);

function TokenStatistics({ figures }: { readonly figures: LogFiguresQuery['logStatistics'] }) {
  const t = useText(logTexts);
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, requests } = figures;
  const shown = [
    [t('statistics.prompt'), promptTokens],
    [t('statistics.cached'), cachedTokens],
    [t('statistics.completion'), completionTokens],
    [t('statistics.reasoning'), reasoningTokens],
    [t('statistics.total'), promptTokens + completionTokens],
    [t('statistics.requests'), requests],
  ] as const;
  return (
    <dl className="log-statistics">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Figure value={value} />
            <CopyButton text={String(value)} label={t('statistics.copy', { name })} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
