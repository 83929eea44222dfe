import { Button, ButtonGroup } from '@blueprintjs/core';
import type { UsageDimension } from '../generated/dashboard/history.js';
import { MomentFilter } from '../kit/table/MomentFilter.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { dimensionsFor, type HistoryParams, type HistoryRange, rangeNames } from './historyRange.js';

interface HistoryFiltersProps {
  readonly range: HistoryRange;
  readonly by: UsageDimension;
  readonly admin: boolean;
  readonly onChange: (patch: Partial<HistoryParams>) => void;
}

/** How far back, and by what. */
export function HistoryFilters({ range, by, admin, onChange }: HistoryFiltersProps) {
  const t = useText(dashboardTexts);
  const chosen = (from: number, to: number): void => onChange({ range: 'custom', from, to });
  return (
    <div className="history-filters">
      <ButtonGroup role="group" aria-label={t('history.range')} className="history-choice">
        {rangeNames.map((name) => (
          <Button
            key={name}
            text={t(`range.${name}`)}
            active={range.name === name}
            aria-pressed={range.name === name}
            onClick={() => onChange({ range: name, from: 0, to: 0 })}
          />
        ))}
        <Button
          text={t('range.custom')}
          active={range.name === 'custom'}
          aria-pressed={range.name === 'custom'}
          // What is shown is where choosing by hand begins.
          onClick={() => chosen(range.from, range.to)}
        />
      </ButtonGroup>
      <ButtonGroup role="group" aria-label={t('history.by')} className="history-choice">
        {dimensionsFor(admin).map((dimension) => (
          <Button
            key={dimension}
            text={t(`by.${dimension}`)}
            active={by === dimension}
            aria-pressed={by === dimension}
            onClick={() => onChange({ by: dimension })}
          />
        ))}
      </ButtonGroup>
      {range.name === 'custom' && (
        <>
          <MomentFilter label={t('history.from')} at={range.from} onChange={(from) => chosen(from, range.to)} />
          <MomentFilter label={t('history.to')} at={range.to} onChange={(to) => chosen(range.from, to)} />
        </>
      )}
    </div>
  );
}
