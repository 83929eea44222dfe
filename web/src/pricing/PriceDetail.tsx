import { Fact, Facts } from '../kit/Facts.js';
import { useStatus } from '../kit/SessionProvider.js';
import { dollarsFor, dollarsPerMillion, tokenQuantities } from '../kit/unitPrice.js';
import { useText } from '../kit/words/i18n.js';
import { quantitiesTexts } from '../kit/words/quantities.texts.js';
import { pricingTexts } from './pricing.texts.js';
import type { OfferedModel } from './pricingColumns.js';

/** Every price of one model: also those that have no column, and on phones those whose column is away. */
export function PriceDetail({ model: { available, groups, price, unitPrices } }: { readonly model: OfferedModel }) {
  const t = useText(pricingTexts);
  const ofTokens = useText(quantitiesTexts);
  const { quotaPerUnit } = useStatus();
  if (price === null || unitPrices === null) return <p>{t('available.unpriced')}</p>;
  const { call } = unitPrices;
  return (
    <div className="pricing-detail">
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
        <Fact name={t('column.groups')}>{groups.join(' · ')}</Fact>
      </Facts>
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
