import { Button } from '@blueprintjs/core';
import { Add, Cross } from '@blueprintjs/icons';
import { useText } from '../../kit/words/i18n.js';
import { PriceInput } from './PriceInput.js';
import { type PeriodPartProps, replaced, without } from './periodPart.js';
import type { PeriodDraft } from './priceDraft.js';
import { pricesTexts } from './prices.texts.js';
import { useQuantityName } from './priceWords.js';

const tierKinds = ['input', 'output', 'cachedInput', 'cacheWrite', 'cacheWriteHour', 'reasoning'] as const;

/** From which length of the prompt on a whole call costs so many times as much. */
export function TierFields({ period, path, problem, onChange }: PeriodPartProps) {
  const t = useText(pricesTexts);
  const nameOf = useQuantityName();
  const { tiers } = period;
  const change = (next: PeriodDraft['tiers']): void => onChange({ ...period, tiers: next });
  return (
    <>
      <p className="price-note">{t('tiers.note')}</p>
      {tiers.map((tier, index) => {
        const kinds = [...new Set([...tierKinds, ...Object.keys(tier.factors)])];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a tier has no name but its place
          <fieldset key={index} className="price-list">
            <legend>{t('tiers.tier', { place: index + 1 })}</legend>
            <div className="price-list-row">
              <span className="price-list-name">{t('tiers.over')}</span>
              <PriceInput
                label={t('tiers.overOf', { place: index + 1 })}
                value={tier.over}
                path={`${path}.contextTiers[${index}].over`}
                problem={problem}
                onChange={(over) => change(replaced(tiers, index, { ...tier, over }))}
              />
              <Button
                variant="minimal"
                size="small"
                icon={<Cross />}
                aria-label={t('tiers.remove', { place: index + 1 })}
                onClick={() => change(without(tiers, index))}
              />
            </div>
            <div className="price-factors">
              {kinds.map((name) => (
                <div key={name} className="price-factor">
                  <span>{nameOf(name)}</span>
                  <PriceInput
                    label={t('tiers.factor', { place: index + 1, name: nameOf(name) })}
                    value={tier.factors[name] ?? ''}
                    unit="×"
                    path={`${path}.contextTiers[${index}].factors.${name}`}
                    problem={problem}
                    onChange={(text) =>
                      change(replaced(tiers, index, { ...tier, factors: { ...tier.factors, [name]: text } }))
                    }
                  />
                </div>
              ))}
            </div>
          </fieldset>
        );
      })}
      <Button
        size="small"
        icon={<Add />}
        text={t('tiers.add')}
        onClick={() => change([...tiers, { over: '', factors: {} }])}
      />
    </>
  );
}

/** What tiers of service multiply the price by: as the option says, or as this record does. */
export function ServiceTierFields({ period, path, problem, onChange }: PeriodPartProps) {
  const t = useText(pricesTexts);
  const { serviceTiers, hasServiceTiers } = period;
  const change = (next: PeriodDraft['serviceTiers']): void =>
    onChange({ ...period, hasServiceTiers: true, serviceTiers: next });
  return (
    <>
      <p className="price-note">{t(hasServiceTiers ? 'service.own' : 'service.option')}</p>
      {hasServiceTiers &&
        serviceTiers.map((entry, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the name of a tier is being typed
          <div key={place} className="price-list-row">
            <PriceInput
              label={t('service.name', { place: place + 1 })}
              value={entry.tier}
              path={`${path}.serviceTiers.${entry.tier}`}
              problem={null}
              placeholder={t('service.placeholder')}
              onChange={(tier) => change(replaced(serviceTiers, place, { ...entry, tier }))}
            />
            <PriceInput
              label={t('service.factor', { place: place + 1 })}
              value={entry.factor}
              unit="×"
              path={`${path}.serviceTiers.${entry.tier.trim()}`}
              problem={problem}
              onChange={(factor) => change(replaced(serviceTiers, place, { ...entry, factor }))}
            />
            <Button
              variant="minimal"
              size="small"
              icon={<Cross />}
              aria-label={t('service.remove', { place: place + 1 })}
              onClick={() => change(without(serviceTiers, place))}
            />
          </div>
        ))}
      <div className="price-buttons">
        <Button
          size="small"
          icon={<Add />}
          text={t('service.add')}
          onClick={() => change([...serviceTiers, { tier: '', factor: '' }])}
        />
        {hasServiceTiers && (
          <Button
            size="small"
            text={t('service.toOption')}
            onClick={() => onChange({ ...period, hasServiceTiers: false, serviceTiers: [] })}
          />
        )}
      </div>
    </>
  );
}
