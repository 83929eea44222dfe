import { Button, InputGroup } from '@blueprintjs/core';
import { Cross, Plus } from '@blueprintjs/icons';
import { useText } from '../../kit/words/i18n.js';
import { isWrongRatio, maxGroups, type TypedRatio } from './groupRatios.js';
import { otherPricesTexts } from './otherPrices.texts.js';

interface GroupRatioFieldsProps {
  readonly ratios: readonly TypedRatio[];
  readonly onChange: (ratios: readonly TypedRatio[]) => void;
}

/** Other ratios of groups, one a line. */
export function GroupRatioFields({ ratios, onChange }: GroupRatioFieldsProps) {
  const t = useText(otherPricesTexts);
  const change = (key: number, patch: Partial<TypedRatio>): void =>
    onChange(ratios.map((one) => (one.key === key ? { ...one, ...patch } : one)));
  const add = (): void =>
    onChange([...ratios, { key: Math.max(0, ...ratios.map(({ key }) => key)) + 1, group: '', ratio: '1' }]);
  return (
    <fieldset className="other-prices-ratios">
      <legend>{t('ratios')}</legend>
      {ratios.map((one) => (
        <div key={one.key} className="other-prices-row">
          <InputGroup
            value={one.group}
            maxLength={64}
            placeholder={t('group')}
            aria-label={t('group')}
            onValueChange={(group) => change(one.key, { group })}
          />
          <InputGroup
            value={one.ratio}
            maxLength={20}
            inputMode="decimal"
            placeholder={t('ratio')}
            aria-label={t('ratio')}
            intent={isWrongRatio(one) ? 'danger' : 'none'}
            aria-invalid={isWrongRatio(one)}
            title={isWrongRatio(one) ? t('ratio.wrong') : undefined}
            onValueChange={(ratio) => change(one.key, { ratio })}
          />
          <Button
            variant="minimal"
            icon={<Cross />}
            aria-label={t('ratio.remove', { group: one.group })}
            onClick={() => onChange(ratios.filter(({ key }) => key !== one.key))}
          />
        </div>
      ))}
      <Button icon={<Plus />} text={t('ratio.add')} disabled={ratios.length >= maxGroups} onClick={add} />
      <p className="section-note">{t('ratios.hint')}</p>
    </fieldset>
  );
}
