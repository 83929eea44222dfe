import { FilterBar, TextFilter } from '../kit/table/FilterBar.js';
import { MomentFilter } from '../kit/table/MomentFilter.js';
import { useText } from '../kit/words/i18n.js';
import { activeTaskFilters, type TaskParams, type TaskRange, taskDefaults } from './taskParams.js';
import { tasksTexts } from './tasks.texts.js';

interface TaskFiltersProps {
  readonly params: TaskParams;
  /** Where the time range of the parameters lies. */
  readonly range: TaskRange;
  readonly admin: boolean;
  readonly onChange: (patch: Partial<TaskParams>) => void;
}

export function TaskFilters({ params, range, admin, onChange }: TaskFiltersProps) {
  const t = useText(tasksTexts);
  const backwards = range.to !== null && range.from > range.to;
  return (
    <FilterBar active={activeTaskFilters(params)} onReset={() => onChange(taskDefaults)}>
      <MomentFilter label={t('filter.from')} at={range.from} onChange={(from) => onChange({ from })} />
      <MomentFilter
        label={t('filter.to')}
        at={range.shownEnd}
        wrong={backwards ? t('filter.backwards') : undefined}
        onChange={(to) => onChange({ to })}
      />
      <TextFilter label={t('filter.task')} value={params.task} onChange={(task) => onChange({ task })} />
      {admin && (
        <TextFilter
          label={t('filter.channel')}
          value={params.channel}
          onChange={(channel) => onChange({ channel: channel.replaceAll(/\D/g, '') })}
        />
      )}
    </FilterBar>
  );
}
