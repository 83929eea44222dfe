import type { PiecePriceFragment, PriceTierFragment, UnitPricesFragment } from '../generated/pricing/pricing.js';
import { Fact, Facts } from '../kit/Facts.js';
import { formatExactly } from '../kit/figures.js';
import { useStatus } from '../kit/SessionProvider.js';
import { dollarsFor, dollarsPerMillion, dollarsPerThousand, shortRatio, tokenQuantities } from '../kit/unitPrice.js';
import { useText } from '../kit/words/i18n.js';
import { quantitiesTexts } from '../kit/words/quantities.texts.js';
import { useQuantityText } from '../kit/words/useQuantityText.js';
import { dayOf } from './dayOf.js';
import { pricingTexts } from './pricing.texts.js';
import type { OfferedModel } from './pricingColumns.js';

/** Every price of one model: also those that have no column, and on phones those whose column is away. */
export function PriceDetail({ model }: { readonly model: OfferedModel }) {
  const t = useText(pricingTexts);
  const { available, groups, price, unitPrices, serviceTiers, coming } = model;
  if (price === null || unitPrices === null) return <p>{t('available.unpriced')}</p>;
  return (
    <div className="pricing-detail">
      {/* The row may be too narrow for it. */}
      <strong className="pricing-name">{model.name}</strong>
      <PriceFacts prices={{ ...model, unitPrices }} groups={groups} />
      <ServiceTiers tiers={serviceTiers} />
      {coming !== null && (
        <section>
          <p>{t('coming.from', { date: dayOf(coming.from) })}</p>
          {coming.unitPrices === null ? (
            <p>{t('available.unpriced')}</p>
          ) : (
            <>
              <PriceFacts prices={{ ...coming, unitPrices: coming.unitPrices }} />
              {JSON.stringify(coming.serviceTiers) !== JSON.stringify(serviceTiers) && (
                <ServiceTiers tiers={coming.serviceTiers} />
              )}
            </>
          )}
        </section>
      )}
      <p className="pricing-ratios figures">
        {[
          t(available ? 'available' : 'available.not'),
          ...(price.like === null ? [] : [t('like', { model: price.like })]),
          t('ratio.group', { ratio: price.group }),
          ...(price.__typename === 'TokenPrice' && unitPrices.input !== null
            ? [t('ratio.model', { ratio: shortRatio(price.model) })]
            : []),
        ].join(' · ')}
      </p>
    </div>
  );
}

function ServiceTiers({ tiers }: { readonly tiers: OfferedModel['serviceTiers'] }) {
  const t = useText(pricingTexts);
  if (tiers.length === 0) return null;
  return (
    <section>
      <p>{t('service')}</p>
      <Facts amounts>
        {tiers.map(({ tier, factor }) => (
          <Fact key={tier} name={tier === 'auto' ? t('service.auto') : tier}>
            {t('service.factor', { factor })}
          </Fact>
        ))}
      </Facts>
    </section>
  );
}

interface Prices {
  readonly unitPrices: UnitPricesFragment;
  readonly tiers: readonly PriceTierFragment[];
  readonly pieces: readonly PiecePriceFragment[];
}

/** All of one price, now or to come. `groups`: that are named beside it. */
function PriceFacts({
  prices: { unitPrices, tiers, pieces },
  groups,
}: {
  readonly prices: Prices;
  readonly groups?: readonly string[];
}) {
  const t = useText(pricingTexts);
  return (
    <>
      <UnitPriceFacts unitPrices={unitPrices} pieces={pieces} groups={groups} />
      {tiers.map(({ over, unitPrices }) => (
        <section key={over}>
          <p>{t('tier.over', { tokens: formatExactly(over) })}</p>
          <UnitPriceFacts unitPrices={unitPrices} />
        </section>
      ))}
    </>
  );
}

function UnitPriceFacts({
  unitPrices,
  pieces = [],
  groups,
}: {
  readonly unitPrices: UnitPricesFragment;
  readonly pieces?: readonly PiecePriceFragment[];
  readonly groups?: readonly string[] | undefined;
}) {
  const t = useText(pricingTexts);
  const ofTokens = useText(quantitiesTexts);
  const quantityText = useQuantityText();
  const pieceText = usePieceText();
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
      {pieces.map((piece) => (
        <Fact key={piece.quantity} name={quantityText(piece.quantity)}>
          {pieceText(piece)}
        </Fact>
      ))}
      {groups !== undefined && <Fact name={t('column.groups')}>{groups.join(' · ')}</Fact>}
    </Facts>
  );
}

/** In the amounts that vendors sell it in. */
function usePieceText(): (piece: PiecePriceFragment) => string {
  const t = useText(pricingTexts);
  const { quotaPerUnit } = useStatus();
  return ({ quantity, unitPrice }) => {
    if (quantity.startsWith('calls:')) return t('per.call', { price: dollarsPerThousand(unitPrice, quotaPerUnit) });
    if (quantity === 'characters') return t('per.characters', { price: dollarsPerMillion(unitPrice, quotaPerUnit) });
    if (quantity === 'searchUnits') return t('per.searchUnits', { price: dollarsPerThousand(unitPrice, quotaPerUnit) });
    const price = dollarsFor(unitPrice, quotaPerUnit);
    if (quantity === 'seconds' || quantity.startsWith('video')) return t('per.seconds', { price });
    return quantity === 'images' ? t('per.images', { price }) : t('per.other', { price });
  };
}
