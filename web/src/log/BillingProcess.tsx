import { Callout, HTMLTable } from '@blueprintjs/core';
import { formatExactly, formatQuota } from '../shared/quota.js';
import { useStatus } from '../shared/session.js';
import { type Translate, useText } from '../shared/words/i18n.js';
import { type Billing, billingOf, formulaOf, type LogLine, pricePerMillion } from './billing.js';
import { logTexts } from './log.texts.js';
import type { logZh } from './log.zh.js';

/** How the charge came about: every factor, the calculation, the result. Nothing for lines without a charge. */
export function BillingProcess({ line }: { readonly line: LogLine }) {
  const t = useText(logTexts);
  const { quotaPerUnit } = useStatus();
  const billing = billingOf(line, quotaPerUnit);
  if (billing === null) return null;
  const inMoney = { quotaPerUnit: Number(quotaPerUnit), inCurrency: true };
  return (
    <section className="billing">
      <h2>{t('billing')}</h2>
      {billing.per === 'token' && billing.parts.length > 0 && (
        <BilledParts billing={billing} quotaPerUnit={quotaPerUnit} />
      )}
      <p className="billing-factors">{factorsText(billing, t)}</p>
      <p className="figures billing-formula">{formulaOf(billing)}</p>
      <p>
        <strong>
          {t('billing.charged', {
            quota: formatExactly(billing.quota),
            money: formatQuota(billing.quota, inMoney, 6),
          })}
        </strong>
      </p>
      <Notes billing={billing} line={line} />
    </section>
  );
}

function factorsText(billing: Billing, t: Translate<typeof logZh>): string {
  const group = billing.group === null ? [] : [t('billing.group', { ratio: billing.group })];
  const own =
    billing.per === 'token'
      ? [t('billing.model', { ratio: billing.model })]
      : [t('billing.perCall', { price: `$${billing.price}` }), t('billing.perUnit', { quota: billing.quotaPerUnit })];
  return [...own, ...group].join(' · ');
}

interface BilledPartsProps {
  readonly billing: Extract<Billing, { per: 'token' }>;
  readonly quotaPerUnit: string;
}

function BilledParts({ billing: { parts, model, group }, quotaPerUnit }: BilledPartsProps) {
  const t = useText(logTexts);
  return (
    <HTMLTable compact className="billing-parts">
      <thead>
        <tr>
          <th scope="col">{t('billing.kind')}</th>
          <th scope="col">{t('billing.tokens')}</th>
          <th scope="col">{t('billing.ratio')}</th>
          <th scope="col">{t('billing.price')}</th>
          <th scope="col">{t('billing.cost')}</th>
        </tr>
      </thead>
      <tbody>
        {parts.map(({ kind, tokens, ratio, cost }) => (
          <tr key={kind}>
            <th scope="row">{t(`billing.${kind}`)}</th>
            <td>{formatExactly(tokens)}</td>
            <td>{ratio}</td>
            <td>${pricePerMillion(model, ratio, group, quotaPerUnit)}</td>
            <td>{cost}</td>
          </tr>
        ))}
      </tbody>
    </HTMLTable>
  );
}

/** What the calculation alone does not say; above all, when it does not give what was charged. */
function Notes({ billing, line }: { readonly billing: Billing; readonly line: LogLine }) {
  const t = useText(logTexts);
  const isTest = line.detail?.__typename === 'ChannelTestDetail';
  const undelivered = billing.per === 'call' && line.quota === 0;
  const nothingUsed = billing.per === 'token' && billing.parts.length === 0;
  const differs = billing.quota !== line.quota && !undelivered && !isTest;
  return (
    <>
      {differs && (
        <Callout compact intent="danger">
          {t('billing.differs', { quota: formatExactly(line.quota) })}
        </Callout>
      )}
      <p className="billing-note">
        {isTest && t('billing.test')}
        {!isTest && undelivered && t('billing.undelivered')}
        {!isTest && nothingUsed && t('billing.free')}
        {billing.quota === 1 && Number(billing.product) < 1 && `${t('billing.least')} · `}
        {!isTest && !undelivered && !nothingUsed && t('billing.reference')}
      </p>
    </>
  );
}
