import { useQuery } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { Link } from 'react-router-dom';
import { AnswerCostDocument } from '../generated/playground/playground.js';
import { formatExactly } from '../kit/figures.js';
import { QuotaText } from '../kit/QuotaText.js';
import { useText } from '../kit/words/i18n.js';
import { playgroundTexts } from './playground.texts.js';

interface AnswerCostProps {
  readonly requestId: string;
  /** Nothing was answered: there may never be a line. */
  readonly mayBeFree: boolean;
}

const everyMs = 700;
/** Who stops an answer is charged when upstream has heard of it. */
const patienceMs = { usual: 20_000, free: 4_000 } as const;

/** What the log says of an answer: its tokens, its charge. The line is there when the call is settled. */
export function AnswerCost({ requestId, mayBeFree }: AnswerCostProps) {
  const t = useText(playgroundTexts);
  const [gaveUp, setGaveUp] = useState(false);
  const [found, setFound] = useState(false);
  const { data } = useQuery(AnswerCostDocument, {
    variables: { requestId },
    fetchPolicy: 'no-cache',
    pollInterval: found || gaveUp ? 0 : everyMs,
  });
  const line = data?.usageLog.edges[0]?.node;
  useEffect(() => setFound(line !== undefined), [line]);
  useEffect(() => {
    const giveUp = setTimeout(() => setGaveUp(true), mayBeFree ? patienceMs.free : patienceMs.usual);
    return () => clearTimeout(giveUp);
  }, [mayBeFree]);

  if (line === undefined)
    return (
      <p className="playground-cost">{gaveUp ? (mayBeFree ? t('cost.free') : t('cost.none')) : t('cost.waiting')}</p>
    );
  return (
    <p className="playground-cost">
      {line.type === 'CONSUME' ? (
        <>
          <span>
            {t('tokens', { input: formatExactly(line.promptTokens), output: formatExactly(line.completionTokens) })}
          </span>
          <QuotaText quota={line.quota} digits={6} />
        </>
      ) : (
        <span>{t('cost.free')}</span>
      )}
      <Link to={`/log?${new URLSearchParams({ request: requestId })}`}>{t('cost.log')}</Link>
    </p>
  );
}
