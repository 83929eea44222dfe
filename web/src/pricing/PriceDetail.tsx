import type { UnitPricesFragment } from '../generated/pricing/pricing.js';
import { Fact, Facts } from '../kit/Facts.js';
import { formatExactly } from '../kit/figures.js';
import { useStatus } from '../kit/SessionProvider.js';
import { dollarsFor, dollarsPerMillion, tokenQuantities } from '../kit/unitPrice.js';
import { useText } from '../kit/words/i18n.js';
import { quantitiesTexts } from '../kit/words/quantities.texts.js';
import { pricingTexts } from './pricing.texts.js';
import type { OfferedModel } from './pricingColumns.js';

/** Every price of one model: also those that have no column, and on phones those whose column is away. */
export function PriceDetail({ model }: { readonly model: OfferedModel }) {
  const t = useText(pricingTexts);
  const { available, groups, price, unitPrices, tiers, coming } = model;
  if (price === null || unitPrices === null) return <p>{t('available.unpriced')}</p>;
  return (
    <div className="pricing-detail">
      <UnitPriceFacts unitPrices={unitPrices} groups={groups} />
      {tiers.map(({ over, unitPrices }) => (
        <section key={over}>
          <p>{t('tier.over', { tokens: formatExactly(over) })}</p>
          <UnitPriceFacts unitPrices={unitPrices} />
        </section>
      ))}
      {coming !== null && (
        <section>
          <p>{t('coming.from', { date: new Date(coming.from * 1000).toISOString().slice(0, 10) })}</p>
          <UnitPriceFacts unitPrices={coming.unitPrices} />
        </section>
      )}
      <p className="pricing-ratios figures">
        {[
          t(available ? 'available' : 'available.not'),
          t('ratio.group', { ratio: price.group }),
          ...(price.__typename === 'TokenPrice' ? [t('ratio.model', { ratio: price.model })] : []),
        ].join(' · ')}
      </p>
    </div>
  );
}

/** `groups`: that are named beside the prices. */
function UnitPriceFacts({
  unitPrices,
  groups,
}: {
  readonly unitPrices: UnitPricesFragment;
  readonly groups?: readonly string[];
}) {
  const t = useText(pricingTexts);
  const ofTokens = useText(quantitiesTexts);
  const { quotaPerUnit } = useStatus();
  const { call } = unitPrices;
  return (
    <Facts amounts>
      {tokenQuantities.map((name) => {
        const unitPrice = unitPrices[name];
        return unitPrice === null ? null : (
          <Fact key={name} name={ofTokens(name)}>
            {t('perMillion', { price: dollarsPerMillion(unitPrice, quotaPerUnit) })}
          </Fact>
        );
      })}
      {call !== null && <Fact name={t('call')}>{t('perCall', { price: dollarsFor(call, quotaPerUnit) })}</Fact>}
      {groups !== undefined && <Fact name={t('column.groups')}>{groups.join(' · ')}</Fact>}
    </Facts>
  );
}
