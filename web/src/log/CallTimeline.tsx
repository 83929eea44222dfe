import type { ReactNode } from 'react';
import { formatDuration } from '../kit/figures.js';
import { QuotaText } from '../kit/QuotaText.js';
import { useText } from '../kit/words/i18n.js';
import type { ShownCall } from './CallPage.js';
import { callTexts } from './call.texts.js';
import { type Attempt, courseOf, type Entry } from './callCourse.js';
import { logTexts } from './log.texts.js';

/** How far the bars reach: to the end, or to now. `now`: Unix milliseconds by the browser's clock. */
function lengthOf({ steps, receivedAt }: Pick<ShownCall, 'steps' | 'receivedAt'>, now: number): number {
  const last = steps.at(-1);
  if (last === undefined) return 1;
  // The browser's clock may be behind that of the server.
  return Math.max(1, last.to ?? Math.max(last.from * 2, now - receivedAt));
}

/** What happened when, to scale, as bars that read as a list. */
export function CallTimeline({ call }: { readonly call: ShownCall }) {
  const t = useText(callTexts);
  const { steps, status } = call;
  const length = lengthOf(call, Date.now());
  const last = steps.at(-1);
  return (
    <>
      <ol className="call-steps" aria-label={t('course')}>
        {courseOf(call).map((entry) => (
          <CourseEntry key={keyOf(entry)} entry={entry} length={length} />
        ))}
      </ol>
      <p className="call-outcome">
        <strong>{t(`status.${status}`)}</strong>
        {last?.to != null && ` · ${t('in', { time: formatDuration(last.to) })}`}
      </p>
    </>
  );
}

const keyOf = (entry: Entry): string =>
  entry.of === 'attempt' ? `attempt ${entry.index}` : `${entry.of} ${entry.kind}`;

interface CourseEntryProps {
  readonly entry: Entry;
  /** How far the bars reach, in milliseconds. */
  readonly length: number;
}

function CourseEntry({ entry, length }: CourseEntryProps) {
  const t = useText(callTexts);
  switch (entry.of) {
    case 'step':
      return (
        <Row
          name={t(`step.${entry.kind}`)}
          className={`call-step-${entry.kind.toLowerCase()}`}
          mark={<Bar from={entry.from} to={entry.to} length={length} />}
        >
          {entry.to === null
            ? t('step.open', { from: formatDuration(entry.from) })
            : t('step.took', { took: formatDuration(entry.to - entry.from), to: formatDuration(entry.to) })}
        </Row>
      );
    case 'attempt':
      return <AttemptRow attempt={entry.attempt} index={entry.index} length={length} />;
    case 'moment':
      return (
        <Row
          name={t(`moment.${entry.kind}`)}
          className={`call-moment call-moment-${entry.kind.toLowerCase()}`}
          mark={<span className="call-moment-mark" style={{ insetInlineStart: percentOf(entry.at, length) }} />}
        >
          {t('moment.at', { at: formatDuration(entry.at) })}
          {entry.quota !== null && (
            <>
              {' · '}
              <QuotaText quota={entry.quota} digits={6} />
            </>
          )}
        </Row>
      );
  }
}

interface AttemptRowProps {
  readonly attempt: Attempt;
  readonly index: number;
  readonly length: number;
}

/** Whom it asked, and why that failed where it did. */
function AttemptRow({ attempt, index, length }: AttemptRowProps) {
  const t = useText(callTexts);
  const log = useText(logTexts);
  const { channelId, channelName, failed, status, code, durationMs, from, to } = attempt;
  const channel = channelName ? `${channelId} · ${channelName}` : log('channelGone', { id: channelId });
  const reason = [status, code].filter((part) => part !== null).join(' ');
  return (
    <Row
      name={t('attempt', { place: index + 1, channel })}
      className={failed ? 'call-attempt call-attempt-failed' : 'call-attempt'}
      mark={from !== null && to !== null && <Bar from={from} to={to} length={length} />}
    >
      {failed
        ? t('attempt.failed', { reason, took: formatDuration(durationMs) })
        : from !== null && to !== null && t('step.took', { took: formatDuration(to - from), to: formatDuration(to) })}
    </Row>
  );
}

interface RowProps {
  readonly name: string;
  readonly className: string;
  /** Where it lies in time. */
  readonly mark: ReactNode;
  /** The same in words. */
  readonly children: ReactNode;
}

const Row = ({ name, className, mark, children }: RowProps) => (
  <li className={`call-step ${className}`}>
    <span className="call-step-name">{name}</span>
    <span className="call-step-track" aria-hidden="true">
      {mark}
    </span>
    <span className="figures">{children}</span>
  </li>
);

const percentOf = (ms: number, length: number): string => `${Math.min(100, (100 * ms) / length)}%`;

interface BarProps {
  readonly from: number;
  /** null: it goes on. */
  readonly to: number | null;
  readonly length: number;
}

const Bar = ({ from, to, length }: BarProps) => (
  <span
    className={to === null ? 'call-step-bar call-step-open' : 'call-step-bar'}
    style={{ marginInlineStart: percentOf(from, length), width: percentOf((to ?? length) - from, length) }}
  />
);
