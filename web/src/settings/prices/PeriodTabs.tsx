import { Button, ButtonGroup } from '@blueprintjs/core';
import { Add, Trash } from '@blueprintjs/icons';
import { useText } from '../../kit/words/i18n.js';
import { nextPeriod, type PriceDraft } from './priceDraft.js';
import { pricesTexts } from './prices.texts.js';

interface PeriodTabsProps {
  readonly draft: PriceDraft;
  readonly selected: number;
  readonly onSelect: (place: number) => void;
  readonly onChange: (draft: PriceDraft) => void;
}

/** Which of the periods of a price is edited; another one can be added, and this one removed. */
export function PeriodTabs({ draft, selected: place, onSelect: onPlace, onChange }: PeriodTabsProps) {
  const t = useText(pricesTexts);
  const { periods } = draft;
  const add = (): void => {
    onChange({ ...draft, periods: [...periods, nextPeriod(draft)] });
    onPlace(periods.length);
  };
  const remove = (): void => {
    onChange({ ...draft, periods: periods.filter((_, index) => index !== place) });
    onPlace(Math.max(0, place - 1));
  };
  return (
    <div className="price-periods">
      {periods.length > 1 && (
        <ButtonGroup role="group" aria-label={t('period.title')} className="price-period-choice">
          {periods.map(({ from }, index) => (
            <Button
              // biome-ignore lint/suspicious/noArrayIndexKey: a period has no name but its place
              key={index}
              size="small"
              active={index === place}
              aria-pressed={index === place}
              text={from !== '' ? t('period.since', { day: from }) : t(index === 0 ? 'period.always' : 'period.new')}
              onClick={() => onPlace(index)}
            />
          ))}
        </ButtonGroup>
      )}
      <Button size="small" icon={<Add />} text={t('period.add')} onClick={add} />
      {periods.length > 1 && <Button size="small" icon={<Trash />} text={t('period.remove')} onClick={remove} />}
    </div>
  );
}
