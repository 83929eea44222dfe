import { Fact, Facts } from '../kit/Facts.js';
import { QuotaText } from '../kit/QuotaText.js';
import { Time } from '../kit/Time.js';
import { useText } from '../kit/words/i18n.js';
import { logTexts } from './log.texts.js';
import type { ShownReceipt } from './ReceiptPage.js';
import { receiptTexts } from './receipt.texts.js';

interface ReceiptProps {
  readonly receipt: ShownReceipt;
}

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1_000);

/** Whose request it was, and what became of it. */
export function ReceiptCall({ receipt }: ReceiptProps) {
  const t = useText(receiptTexts);
  const log = useText(logTexts);
  const { model, upstreamModel, attempts, outcome } = receipt;
  return (
    <Facts>
      <Fact name={t('issued')}>
        <Time at={seconds(receipt.issuedAt)} />
      </Fact>
      <Fact name={t('received')}>
        <Time at={seconds(receipt.receivedAt)} />
      </Fact>
      <Fact name={t('user')}>{receipt.userId}</Fact>
      <Fact name={log('column.token')}>{receipt.apiKeyName}</Fact>
      <Fact name={log('column.group')}>{receipt.group}</Fact>
      <Fact name={t('model')}>
        {upstreamModel === null ? model : log('model.both', { requested: model, actual: upstreamModel })}
      </Fact>
      <Fact name={log('line.path')}>
        <code>{receipt.path}</code>
      </Fact>
      <Fact name={t('status')}>{t(`status.${receipt.status}`)}</Fact>
      <Fact name={log('line.outcome')}>{outcome?.outcome != null && log(`outcome.${outcome.outcome}`)}</Fact>
      <Fact name={log('line.reason')}>
        {outcome?.releaseReason != null && log(`released.${outcome.releaseReason}`)}
      </Fact>
      <Fact name={t('answerId')}>{outcome?.answerId && <code>{outcome.answerId}</code>}</Fact>
      <Fact name={t('attempts')}>{attempts !== null && attempts.length > 0 && <Attempts attempts={attempts} />}</Fact>
    </Facts>
  );
}

function Attempts({ attempts }: { readonly attempts: NonNullable<ShownReceipt['attempts']> }) {
  const t = useText(receiptTexts);
  return attempts.map(({ channelId, channelName, failed, status, code }, index) => {
    const place = index + 1;
    const reason = [status, code].filter((part) => part !== null).join(' ');
    const channel = `${channelId} · ${channelName}`;
    return (
      <div key={place}>
        {t('attempt', { place, channel })} {failed && t('attempt.failed', { reason })}
      </div>
    );
  });
}

/** What was held, charged and given back, each with its event. */
export function ReceiptAmounts({ receipt: { reservation, outcome, corrections, refund, paid } }: ReceiptProps) {
  const t = useText(receiptTexts);
  const suspense = (outcome?.suspense ?? 0) + (refund?.suspense ?? 0);
  return (
    <Facts amounts>
      <Fact name={t('reserved')}>
        <Amount quota={reservation.quota} position={reservation.position} />
      </Fact>
      <Fact name={t('charged')}>
        {outcome !== null && <Amount quota={outcome.charged} position={outcome.position} />}
      </Fact>
      <Fact name={t('uncovered')}>
        {outcome !== null && outcome.uncovered > 0 && <Amount quota={outcome.uncovered} position={outcome.position} />}
      </Fact>
      {corrections.map(({ position, part, charged }) => (
        <Fact key={position} name={t(`corrected.${part}`)}>
          <Amount quota={charged} position={position} />
        </Fact>
      ))}
      <Fact name={t('refunded')}>{refund !== null && <Amount quota={refund.quota} position={refund.position} />}</Fact>
      <Fact name={t('paid')}>
        <strong>
          <QuotaText quota={paid} digits={6} />
        </strong>
      </Fact>
      <Fact name={t('suspense')}>{suspense > 0 && <QuotaText quota={suspense} digits={6} />}</Fact>
      <Fact name={t('upstreamCost')}>{outcome?.upstreamCost}</Fact>
    </Facts>
  );
}

function Amount({ quota, position }: { readonly quota: number; readonly position: number }) {
  const t = useText(receiptTexts);
  return (
    <>
      <QuotaText quota={quota} digits={6} />
      <div className="receipt-position">{t('position', { position })}</div>
    </>
  );
}
