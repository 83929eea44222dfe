import { Fact, Facts } from '../kit/Facts.js';
import { formatDuration, formatExactly } from '../kit/figures.js';
import { QuotaText } from '../kit/QuotaText.js';
import { Time } from '../kit/Time.js';
import { useText } from '../kit/words/i18n.js';
import type { ShownCall } from './CallPage.js';
import { callTexts } from './call.texts.js';
import { logTexts } from './log.texts.js';

/** Who asked for what, what was held for it, and what has come of it. */
export function CallFacts({ call }: { readonly call: ShownCall }) {
  const t = useText(callTexts);
  const log = useText(logTexts);
  const { end } = call;
  const model =
    end?.upstreamModel == null ? call.model : log('model.both', { requested: call.model, actual: end.upstreamModel });
  return (
    <Facts>
      <Fact name={t('received')}>
        <Time at={Math.floor(call.receivedAt / 1000)} />
      </Fact>
      <Fact name={log('column.user')}>{call.username || call.userId}</Fact>
      <Fact name={log('column.token')}>{call.apiKeyName}</Fact>
      <Fact name={log('column.group')}>{call.group}</Fact>
      <Fact name={log('line.path')}>
        <code>{call.path}</code>
      </Fact>
      <Fact name={log('column.model')}>{model}</Fact>
      <Fact name={log('line.effort')}>{end?.reasoningEffort}</Fact>
      <Fact name={t('promptTokens')}>{formatExactly(call.promptTokens)}</Fact>
      <Fact name={t('maxOutput')}>{call.maxOutputTokens !== null && formatExactly(call.maxOutputTokens)}</Fact>
      <Fact name={t('reserved')}>
        <QuotaText quota={call.reserved} digits={6} />
      </Fact>
      <Fact name={t('raised')}>
        {end !== null && end.charged > call.reserved && <QuotaText quota={end.charged} digits={6} />}
      </Fact>
      <EndFacts call={call} />
      <Fact name={t('suspense')}>{call.suspense ? <QuotaText quota={call.suspense} digits={6} /> : null}</Fact>
    </Facts>
  );
}

function EndFacts({ call: { end, isStream, refunded } }: { readonly call: ShownCall }) {
  const t = useText(callTexts);
  const log = useText(logTexts);
  if (end === null) return null;
  const times = [end.useTimeMs, end.firstTokenMs].flatMap((ms) => (ms === null ? [] : formatDuration(ms)));
  return (
    <>
      <Fact name={t('charged')}>
        <QuotaText quota={end.charged} digits={6} />
      </Fact>
      <Fact name={log('line.uncovered')}>{end.uncovered > 0 && <QuotaText quota={end.uncovered} digits={6} />}</Fact>
      <Fact name={t('refunded')}>{refunded > 0 && <QuotaText quota={refunded} digits={6} />}</Fact>
      <Fact name={log('line.outcome')}>{end.outcome !== null && log(`outcome.${end.outcome}`)}</Fact>
      <Fact name={log('line.reason')}>{end.releaseReason !== null && log(`released.${end.releaseReason}`)}</Fact>
      <Fact name={log('line.status')}>{end.status}</Fact>
      <Fact name={log('line.code')}>{end.code !== null && <code>{end.code}</code>}</Fact>
      <Fact name={log('line.usageSource')}>{end.usageSource !== null && log(`source.${end.usageSource}`)}</Fact>
      <Fact name={log('column.duration')}>{[...times, log(isStream ? 'stream' : 'notStream')].join(' / ')}</Fact>
    </>
  );
}
