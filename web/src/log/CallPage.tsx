import { useQuery } from '@apollo/client/react';
import { ArrowLeft, Document } from '@blueprintjs/icons';
import { useRef } from 'react';
import { useParams } from 'react-router-dom';
import { CallPageDocument, type CallPageQuery } from '../generated/log/call.js';
import { CopyButton } from '../kit/CopyButton.js';
import { LinkButton } from '../kit/LinkButton.js';
import { PageFrame } from '../kit/PageFrame.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { Section } from '../kit/Section.js';
import { readsAll, readsSettings, useSignedIn } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { BillingProcess } from './BillingProcess.js';
import { CallEvents } from './CallEvents.js';
import { CallFacts } from './CallFacts.js';
import { CallTimeline } from './CallTimeline.js';
import { callTexts } from './call.texts.js';
import { LoggedRequest } from './LoggedRequest.js';
import './call.css';
import './log.css';
import { PriceOrigins } from './PriceOrigins.js';
import { receiptTexts } from './receipt.texts.js';

export type ShownCall = NonNullable<CallPageQuery['call']>;

/** How often a request that is under way is looked at again. */
const everyMs = 1_000;

/** One request by its id: what became of it, step by step, and how its charge came about. */
export function CallPage() {
  const t = useText(callTexts);
  const receipt = useText(receiptTexts);
  const viewer = useSignedIn();
  const { requestId = '' } = useParams();
  const isOver = useRef(false);
  const { data, loading, error, refetch } = useQuery(CallPageDocument, {
    variables: { requestId, admin: readsAll(viewer), root: readsSettings(viewer) },
    fetchPolicy: 'cache-and-network',
    pollInterval: everyMs,
    skipPollAttempt: () => document.hidden || isOver.current,
  });
  const call = data?.call;
  isOver.current = call !== undefined && call?.status !== 'UNDER_WAY';
  return (
    <PageFrame
      title={t('title')}
      help={
        <span className="log-copied">
          <code className="call-id">{requestId}</code>
          <CopyButton text={requestId} label={t('copyId')} />
        </span>
      }
      actions={
        <>
          <LinkButton to="/log" icon={<ArrowLeft />}>
            {t('back')}
          </LinkButton>
          {call && (
            <LinkButton to={`/log/${requestId}/receipt`} icon={<Document />}>
              {receipt('open')}
            </LinkButton>
          )}
        </>
      }
    >
      {call === undefined && <QueryNotice loading={loading} error={error} refetch={refetch} />}
      {call === null && <LoggedRequest requestId={requestId} admin={readsAll(viewer)} everyMs={everyMs} />}
      {call && <CallSections call={call} />}
    </PageFrame>
  );
}

function CallSections({ call }: { readonly call: ShownCall }) {
  const t = useText(callTexts);
  const { end, billing, price } = call;
  return (
    <>
      <Section title={t('course')}>
        <CallTimeline call={call} />
      </Section>
      <div className="call-parts">
        <Section title={t('facts')}>
          <CallFacts call={call} />
        </Section>
        <Section title={t('price')}>
          <PriceOrigins origins={call.priceOrigins} />
          {end === null && <p className="billing-note">{t('price.forecast')}</p>}
        </Section>
      </div>
      {end !== null && billing !== null && (
        <Section title={t('charge')}>
          <BillingProcess line={{ billing, price, detail: null, quota: end.charged, uncovered: end.uncovered }} />
        </Section>
      )}
      <Section title={t('events')}>
        <CallEvents events={call.events} />
      </Section>
    </>
  );
}
