import { MomentFilter } from '../../kit/table/MomentFilter.js';
import { useText } from '../../kit/words/i18n.js';
import { otherPricesTexts } from './otherPrices.texts.js';
import type { SettledPeriod } from './period.js';

interface PeriodFieldsProps {
  readonly period: SettledPeriod;
  readonly onChange: (patch: Partial<SettledPeriod>) => void;
}

/** From when to when. */
export function PeriodFields({ period: { from, to }, onChange }: PeriodFieldsProps) {
  const t = useText(otherPricesTexts);
  return (
    <>
      <MomentFilter label={t('from')} at={from} onChange={(at) => onChange({ from: at })} />
      <MomentFilter
        label={t('to')}
        at={to}
        wrong={from >= to ? t('to.wrong') : undefined}
        onChange={(at) => onChange({ to: at })}
      />
    </>
  );
}
