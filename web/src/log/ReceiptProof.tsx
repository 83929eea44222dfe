import { Callout } from '@blueprintjs/core';
import { useMemo } from 'react';
import { CopyButton } from '../kit/CopyButton.js';
import { Fact, Facts } from '../kit/Facts.js';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { formatTime } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import type { ShownReceipt } from './ReceiptPage.js';
import { receiptTexts } from './receipt.texts.js';

type Event = ShownReceipt['events'][number];
type Seal = ShownReceipt['seals'][number];

const shownAt = (milliseconds: number): string => formatTime(Math.floor(milliseconds / 1_000));

/** Where it all stands in the log, and which seals say that it stood there. */
export function ReceiptProof({ receipt: { events, seals, sealing } }: { readonly receipt: ShownReceipt }) {
  const t = useText(receiptTexts);
  const columns = useMemo<readonly Column<Event>[]>(
    () => [
      { id: 'type', header: t('events.type'), heading: true, cell: ({ type }) => type },
      { id: 'position', header: t('events.position'), align: 'end', cell: ({ position }) => position },
      { id: 'at', header: t('events.at'), wraps: true, cell: ({ at }) => shownAt(at) },
      {
        id: 'hash',
        header: t('events.hash'),
        wraps: true,
        cell: ({ hash }) => (hash === null ? t('events.missing') : <code className="receipt-hash">{hash}</code>),
      },
      { id: 'seal', header: t('events.seal'), align: 'end', cell: ({ seal }) => seal },
    ],
    [t],
  );
  return (
    <>
      <div className="billing-lines">
        <ResourceTable
          label={t('events')}
          columns={columns}
          rows={events}
          rowKey={({ position }) => String(position)}
        />
      </div>
      {sealing === 'LEFT_OUT' ? (
        <Callout compact intent="danger">
          {t('sealing.LEFT_OUT')}
        </Callout>
      ) : (
        <p className="section-note">{t(`sealing.${sealing}`)}</p>
      )}
      {seals.map((seal) => (
        <SealFacts key={seal.number} seal={seal} />
      ))}
    </>
  );
}

function SealFacts({ seal: { number, digest, at, keyId, signature } }: { readonly seal: Seal }) {
  const t = useText(receiptTexts);
  const head = `${number}:${digest}`;
  return (
    <div>
      <h3 className="receipt-seal">{t('seal', { number, at: formatTime(at) })}</h3>
      <Facts>
        <Fact name={t('seal.head')}>
          <span className="log-copied">
            <code className="receipt-hash">{head}</code>
            <CopyButton text={head} label={t('seal.head')} />
          </span>
        </Fact>
        <Fact name={t('seal.key')}>
          <code>{keyId}</code>
        </Fact>
        <Fact name={t('seal.signature')}>
          <code className="receipt-hash">{signature}</code>
        </Fact>
      </Facts>
    </div>
  );
}
