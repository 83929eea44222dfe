import { Callout } from '@blueprintjs/core';
import { useMemo } from 'react';
import { formatExactly } from '../kit/figures.js';
import { formatQuota } from '../kit/quota.js';
import { useStatus } from '../kit/SessionProvider.js';
import type { Column } from '../kit/table/columns.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useText } from '../kit/words/i18n.js';
import { useQuantityText } from '../kit/words/useQuantityText.js';
import { type Billed, type Billing, type BillingLine, differs, factorsOf, formulaOf, priceText } from './billing.js';
import { logTexts } from './log.texts.js';

/** How the charge came about: every factor, the calculation, the result. Nothing for lines without a charge. */
export function BillingProcess({ line }: { readonly line: Billed }) {
  const t = useText(logTexts);
  const { quotaPerUnit } = useStatus();
  const { billing } = line;
  const factors = factorsOf(line, quotaPerUnit);
  if (billing === null || factors === null) return null;
  const inMoney = { quotaPerUnit: Number(quotaPerUnit), inCurrency: true };
  const own =
    factors.per === 'token'
      ? [t('billing.model', { ratio: factors.model })]
      : [t('billing.perCall', { price: `$${factors.price}` }), t('billing.perUnit', { quota: factors.quotaPerUnit })];
  const group = factors.group === null ? [] : [t('billing.group', { ratio: factors.group })];
  const { serviceTier: tier, serviceFactor: ratio } = billing;
  const like = line.price?.like ?? null;
  const named = like === null ? [] : [t('billing.like', { model: like })];
  const service = tier === null || ratio === null ? [] : [t('billing.service', { tier, ratio })];
  return (
    <section className="billing">
      <h2>{t('billing')}</h2>
      {billing.lines.length > (factors.per === 'token' ? 0 : 1) && <BillingLines lines={billing.lines} />}
      <p className="billing-factors">{[...named, ...own, ...group, ...service].join(' · ')}</p>
      <p className="figures billing-formula">{formulaOf(billing, factors)}</p>
      <p>
        <strong>
          {t('billing.charged', {
            quota: formatExactly(billing.total),
            money: formatQuota(billing.total, inMoney, 6),
          })}
        </strong>
      </p>
      <Notes billing={billing} line={line} isPerCall={factors.per === 'call'} />
    </section>
  );
}

function BillingLines({ lines }: { readonly lines: readonly BillingLine[] }) {
  const t = useText(logTexts);
  const quantityText = useQuantityText();
  const { quotaPerUnit } = useStatus();
  const columns = useMemo<readonly Column<BillingLine>[]>(
    () => [
      {
        id: 'kind',
        header: t('billing.kind'),
        heading: true,
        cell: ({ quantity }) => quantityText(quantity),
      },
      { id: 'count', header: t('billing.count'), align: 'end', cell: ({ count }) => formatExactly(count) },
      { id: 'ratio', header: t('billing.ratio'), align: 'end', cell: ({ ratio }) => ratio },
      {
        id: 'price',
        header: t('billing.price'),
        align: 'end',
        cell: (line) => {
          const price = priceText(line, quotaPerUnit);
          return line.ratio === null ? price : t('billing.perMillion', { price });
        },
      },
      { id: 'amount', header: t('billing.amount'), align: 'end', cell: ({ amount }) => amount },
    ],
    [t, quantityText, quotaPerUnit],
  );
  return (
    <div className="billing-lines">
      <ResourceTable label={t('billing.items')} columns={columns} rows={lines} rowKey={({ quantity }) => quantity} />
    </div>
  );
}

interface NotesProps {
  readonly billing: Billing;
  readonly line: Billed;
  readonly isPerCall: boolean;
}

/** What the calculation alone does not say; above all, when it does not give what was charged. */
function Notes({ billing, line, isPerCall }: NotesProps) {
  const t = useText(logTexts);
  const isTest = line.detail?.__typename === 'ChannelTestDetail';
  const undelivered = isPerCall && line.quota + line.uncovered === 0;
  const nothingUsed = billing.lines.length === 0;
  return (
    <>
      {!isTest && !undelivered && differs(billing, line) && (
        <Callout compact intent="danger">
          {t('billing.differs', { quota: formatExactly(line.quota) })}
        </Callout>
      )}
      <p className="billing-note">
        {isTest && t('billing.test')}
        {!isTest && undelivered && t('billing.undelivered')}
        {!isTest && nothingUsed && t('billing.free')}
        {billing.total === 1 && Number(billing.exact) < 1 && t('billing.least')}
      </p>
    </>
  );
}
