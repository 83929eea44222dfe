import { Button, NonIdealState } from '@blueprintjs/core';
import { ArrowLeft, ArrowRight } from '@blueprintjs/icons';
import { lazy, Suspense, useState } from 'react';
import type { AuditedInput } from '../generated/audit/audit.js';
import { Fact, Facts } from '../kit/Facts.js';
import { PageFrame } from '../kit/PageFrame.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { QuotaText } from '../kit/QuotaText.js';
import { Section } from '../kit/Section.js';
import { readsAll, useSignedIn } from '../kit/SessionProvider.js';
import { Time } from '../kit/Time.js';
import { FilterBar } from '../kit/table/FilterBar.js';
import { MomentFilter } from '../kit/table/MomentFilter.js';
import { useListParams } from '../kit/table/useListParams.js';
import { useText } from '../kit/words/i18n.js';
import { AuditedFilters } from './AuditFilters.js';
import { AuditPages } from './AuditPages.js';
import { auditTexts } from './audit.texts.js';
import { auditedIn } from './auditParams.js';
import { MovementSubject } from './MovementSubject.js';
import { ReplayControls, type Speed } from './ReplayControls.js';
import { ReplayEvent } from './ReplayEvent.js';
import { replayTexts } from './replay.texts.js';
import { usePlayback } from './usePlayback.js';
import { type ReplayMovement, type ReplayStart, useReplay } from './useReplay.js';

/** What draws is larger than the page, which is of use before it is there. */
const BalanceChart = lazy(async () => ({ default: (await import('./BalanceChart.js')).BalanceChart }));

/** Charges of single calls are small. */
const digits = 6;

/** `own`: the id of who looks. */
const replayDefaults = (own: string) => ({
  kind: 'USER',
  id: own,
  /** Unix seconds; 0: from the first movement. */
  from: 0,
});

/** A history as it came about: stepped through, played, or from an instant on. One's own, at the beginning. */
export function ReplayPage() {
  const t = useText(replayTexts);
  const viewer = useSignedIn();
  const defaults = replayDefaults(viewer.id);
  const [params, setParams] = useListParams(defaults);
  const of = auditedIn(params);
  const active = [params.kind !== defaults.kind || params.id !== defaults.id, params.from > 0].filter(Boolean).length;
  return (
    <PageFrame title={t('title')} help={t('help')}>
      <AuditPages />
      <FilterBar active={active} onReset={() => setParams(defaults)}>
        <AuditedFilters params={params} onChange={setParams} />
        <MomentFilter label={t('filter.jump')} at={params.from} mayBeOpen onChange={(from) => setParams({ from })} />
      </FilterBar>
      {/* Another account, or another instant, is another replay. */}
      <Replayed key={`${of.kind} ${of.id} ${params.from}`} of={of} from={params.from > 0 ? params.from : null} />
    </PageFrame>
  );
}

function Replayed({ of, from }: { readonly of: AuditedInput; readonly from: number | null }) {
  const t = useText(replayTexts);
  const isForReaders = readsAll(useSignedIn());
  const [after, setAfter] = useState<ReplayStart['after']>(null);
  const [speed, setSpeed] = useState<Speed>('5');
  const { movements, isLoading, error, hasMore, retry } = useReplay(of, { from, after });
  const playback = usePlayback(movements.length, Number(speed));
  const movement = movements[playback.step];
  const goOn = (behind: ReplayStart['after']): void => {
    playback.goTo(0);
    setAfter(behind);
  };
  if (movement === undefined && (isLoading || error !== undefined))
    return <QueryNotice loading={isLoading} error={error} refetch={retry} />;
  if (movement === undefined) return <NonIdealState description={t('empty')} />;
  return (
    <>
      <Section title={t('chart')}>
        <Suspense fallback={<div className="replay-chart" />}>
          <BalanceChart movements={movements} step={playback.step} />
        </Suspense>
        <ReplayControls movements={movements} playback={playback} speed={speed} onSpeed={setSpeed} />
        {isLoading && (
          <p className="section-note" role="status">
            {t('loaded', { count: movements.length })}
          </p>
        )}
        {after !== null && <Button icon={<ArrowLeft />} text={t('again')} onClick={() => goOn(null)} />}
        {!isLoading && hasMore && (
          <Button icon={<ArrowRight />} text={t('more')} onClick={() => goOn(movements.at(-1) ?? null)} />
        )}
      </Section>
      <Section title={t('step', { step: playback.step + 1, count: movements.length })}>
        <Step {...movement} />
      </Section>
      {isForReaders && (
        <Section title={t('event')}>
          <ReplayEvent position={movement.position} isPlaying={playback.isPlaying} />
        </Section>
      )}
    </>
  );
}

function Step({ at, cause, subject, change, balance }: ReplayMovement) {
  const t = useText(replayTexts);
  const audit = useText(auditTexts);
  return (
    <Facts>
      <Fact name={t('fact.at')}>
        <Time at={at} />
      </Fact>
      <Fact name={t('fact.cause')}>{audit(`cause.${cause}`)}</Fact>
      <Fact name={t('fact.subject')}>
        <MovementSubject cause={cause} subject={subject} />
      </Fact>
      <Fact name={t('fact.change')}>
        <QuotaText quota={change.available} digits={digits} />
      </Fact>
      <Fact name={t('fact.balance')}>
        <QuotaText quota={balance.available} digits={digits} />
      </Fact>
      <Fact name={t('fact.reserved')}>
        <QuotaText quota={balance.reserved} digits={digits} />
      </Fact>
    </Facts>
  );
}
