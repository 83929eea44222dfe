import { useText } from '../kit/words/i18n.js';
import type { ShownCall } from './CallPage.js';
import { callTexts } from './call.texts.js';

type Step = ShownCall['steps'][number];

/** Milliseconds, finer where they are few. */
const inWords = (ms: number): string => (ms < 10_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);

/** How far the bars reach: to the end, or to now. `now`: Unix milliseconds by the browser's clock. */
export function lengthOf({ steps, receivedAt }: Pick<ShownCall, 'steps' | 'receivedAt'>, now: number): number {
  const last = steps.at(-1);
  if (last === undefined) return 1;
  // The browser's clock may be behind that of the server.
  return Math.max(1, last.to ?? Math.max(last.from * 2, now - receivedAt));
}

/** What happened when, as bars that read as a list. */
export function CallTimeline({ call }: { readonly call: ShownCall }) {
  const t = useText(callTexts);
  const { steps, status } = call;
  const length = lengthOf(call, Date.now());
  const last = steps.at(-1);
  return (
    <>
      <ol className="call-steps" aria-label={t('course')}>
        {steps.map((step) => (
          <StepBar key={step.kind} step={step} length={length} />
        ))}
      </ol>
      <p className="call-outcome">
        <strong>{t(`status.${status}`)}</strong>
        {last?.to != null && ` · ${t('in', { time: inWords(last.to) })}`}
      </p>
    </>
  );
}

function StepBar({ step: { kind, from, to }, length }: { readonly step: Step; readonly length: number }) {
  const t = useText(callTexts);
  const end = to ?? length;
  const percent = (ms: number): string => `${Math.min(100, (100 * ms) / length)}%`;
  return (
    <li className={`call-step call-step-${kind.toLowerCase()}`}>
      <span>{t(`step.${kind}`)}</span>
      <span className="call-step-track" aria-hidden="true">
        <span
          className={to === null ? 'call-step-bar call-step-open' : 'call-step-bar'}
          style={{ marginInlineStart: percent(from), width: percent(end - from) }}
        />
      </span>
      <span className="figures">
        {to === null
          ? t('step.open', { from: inWords(from) })
          : t('step.took', { took: inWords(to - from), to: inWords(to) })}
      </span>
    </li>
  );
}
