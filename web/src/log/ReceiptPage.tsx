import { useApolloClient, useQuery } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { ArrowLeft, Download, Print } from '@blueprintjs/icons';
import { useRef, useState } from 'react';
import { useParams } from 'react-router-dom';
import { ReceiptPageDocument, type ReceiptPageQuery, SignedReceiptDocument } from '../generated/log/receipt.js';
import { formatExactly } from '../kit/figures.js';
import { LinkButton } from '../kit/LinkButton.js';
import { PageFrame } from '../kit/PageFrame.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { Section } from '../kit/Section.js';
import { saveFile } from '../kit/saveFile.js';
import { toaster } from '../kit/Toasts.js';
import { useLightPrint } from '../kit/useLightPrint.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { BillingProcess } from './BillingProcess.js';
import { ReceiptFactors } from './ReceiptFactors.js';
import { ReceiptAmounts, ReceiptCall } from './ReceiptFacts.js';
import { ReceiptProof } from './ReceiptProof.js';
import { receiptTexts } from './receipt.texts.js';
import './log.css';
import './receipt.css';

export type ShownReceipt = NonNullable<ReceiptPageQuery['receipt']>;

/** How often it is looked at again while something of it is still to come: the outcome, or a seal. */
const everyMs = 5_000;

/** What one request was charged and why, on one page that can be printed. */
export function ReceiptPage() {
  const t = useText(receiptTexts);
  const { requestId = '' } = useParams();
  const isWhole = useRef(false);
  useLightPrint();
  const { data, loading, error, refetch } = useQuery(ReceiptPageDocument, {
    variables: { requestId },
    fetchPolicy: 'network-only',
    pollInterval: everyMs,
    skipPollAttempt: () => document.hidden || isWhole.current,
  });
  const receipt = data?.receipt;
  isWhole.current =
    receipt === null || (receipt?.sealing !== undefined && receipt.sealing !== 'PENDING' && receipt.outcome !== null);
  return (
    <PageFrame
      title={t('title')}
      help={<code className="receipt-id">{requestId}</code>}
      actions={
        <>
          <LinkButton to={`/log/${requestId}`} icon={<ArrowLeft />}>
            {t('back')}
          </LinkButton>
          {receipt && <SaveButton requestId={requestId} />}
          {receipt && <Button icon={<Print />} text={t('print')} intent="primary" onClick={() => window.print()} />}
        </>
      }
    >
      {receipt === undefined && <QueryNotice loading={loading} error={error} refetch={refetch} />}
      {receipt === null && (
        <Callout intent="warning" title={t('unknown')}>
          {t('unknown.hint')}
        </Callout>
      )}
      {receipt && <ReceiptSections receipt={receipt} />}
    </PageFrame>
  );
}

function SaveButton({ requestId }: { readonly requestId: string }) {
  const t = useText(receiptTexts);
  const client = useApolloClient();
  const [isSaving, setSaving] = useState(false);
  const save = async (): Promise<void> => {
    setSaving(true);
    try {
      const query = { query: SignedReceiptDocument, variables: { requestId }, fetchPolicy: 'no-cache' } as const;
      const signed = (await client.query(query)).data?.receipt?.signed ?? null;
      if (signed === null) toaster.warning(t('save.none'));
      else saveFile(`receipt-${requestId}.json`, new Blob([`${signed}\n`], { type: 'application/json' }));
    } catch (problem) {
      toaster.failure(errorText(problem));
    } finally {
      setSaving(false);
    }
  };
  return <Button icon={<Download />} text={t('save')} loading={isSaving} onClick={() => void save()} />;
}

function ReceiptSections({ receipt }: { readonly receipt: ShownReceipt }) {
  const t = useText(receiptTexts);
  const { calculation, claimed, outcome, price, pricedOver, usageSource } = receipt;
  return (
    <div className="receipt">
      <div className="receipt-parts">
        <Section title={t('call')}>
          <ReceiptCall receipt={receipt} />
        </Section>
        <Section title={t('amounts')}>
          <ReceiptAmounts receipt={receipt} />
        </Section>
      </div>
      <Section title={t('calculation')}>
        {usageSource !== null && <p className="section-note">{t(`usage.${usageSource}`)}</p>}
        {claimed !== null && (
          <p className="section-note">
            {t('usage.claimed', {
              counts: claimed.map(({ quantity, count }) => `${quantity} ${formatExactly(count)}`).join(', '),
            })}
          </p>
        )}
        {pricedOver !== null && (
          <p className="section-note">{t('calculation.over', { length: formatExactly(pricedOver) })}</p>
        )}
        {calculation === null || outcome === null ? (
          <p className="section-note">{t('calculation.none')}</p>
        ) : (
          <BillingProcess
            line={{ billing: calculation, price, detail: null, quota: outcome.charged, uncovered: outcome.uncovered }}
          />
        )}
      </Section>
      {receipt.corrections.map(({ position, calculation, price, charged, uncovered }) => (
        <Section key={position} title={t('corrections')}>
          <BillingProcess line={{ billing: calculation, price, detail: null, quota: charged, uncovered }} />
        </Section>
      ))}
      <Section title={t('factors')}>
        <ReceiptFactors factors={receipt.factors} />
      </Section>
      <Section title={t('events')}>
        <ReceiptProof receipt={receipt} />
      </Section>
    </div>
  );
}
