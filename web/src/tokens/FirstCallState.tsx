import { Callout, Spinner } from '@blueprintjs/core';
import { Link } from 'react-router-dom';
import type { CallLineFragment } from '../generated/tokens/tokens.js';
import { formatDuration, formatExactly } from '../kit/figures.js';
import { QuotaText } from '../kit/QuotaText.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { tokensTexts } from './tokens.texts.js';
import { useCallsOf } from './useCallsOf.js';

/** Whether a call with the token has come: waits for it, and shows what became of it. */
export function FirstCallState({ id }: { readonly id: string }) {
  const t = useText(tokensTexts);
  const { call, error } = useCallsOf(id);
  // One place for all that is said here, so that screen readers announce what changes in it.
  return (
    <div role="status" className="first-call">
      {error !== undefined ? (
        <Callout intent="warning" compact title={t('call.unknown')}>
          {errorText(error)}
        </Callout>
      ) : call === null ? (
        <Callout compact icon={<Spinner size={16} aria-label={t('call.waiting')} />} title={t('call.waiting')}>
          {t('call.waitingHint')}
        </Callout>
      ) : (
        <ArrivedCall call={call} />
      )}
    </div>
  );
}

function ArrivedCall({ call }: { readonly call: CallLineFragment }) {
  const t = useText(tokensTexts);
  const { type, model, promptTokens, completionTokens, quota, useTimeMs, requestId, detail } = call;
  const toLog = requestId !== null && <Link to={`/log/${encodeURIComponent(requestId)}`}>{t('call.toLog')}</Link>;
  if (type !== 'CONSUME') {
    const reason = detail?.__typename === 'ReleaseDetail' ? [detail.status, detail.code] : [];
    return (
      <Callout intent="warning" compact title={t('call.failed')}>
        <p>{t('call.failedHint', { reason: reason.filter((part) => part !== null).join(' ') || model })}</p>
        {toLog}
      </Callout>
    );
  }
  const figures = {
    model,
    prompt: formatExactly(promptTokens),
    completion: formatExactly(completionTokens),
    time: formatDuration(useTimeMs),
  };
  return (
    <Callout intent="success" compact title={t('call.arrived')}>
      <p>
        {t('call.figures', figures)} · <QuotaText quota={quota} />
      </p>
      {toLog}
    </Callout>
  );
}
