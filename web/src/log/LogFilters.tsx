import { useQuery } from '@apollo/client/react';
import { LogGroupsDocument } from '../generated/log/log.js';
import { refusalCodes } from '../kit/refusal/refusals.js';
import { type Choice, FilterBar, NameFilter, SelectFilter, TextFilter } from '../kit/table/FilterBar.js';
import { MomentFilter } from '../kit/table/MomentFilter.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { logTexts } from './log.texts.js';
import { activeFilters, type LogParams, logDefaults, logTypes } from './logParams.js';
import { isQuickRange, quickRanges, shownEnd, type TimeRange } from './ranges.js';

interface LogFiltersProps {
  readonly params: LogParams;
  /** Where the time range of the parameters lies. */
  readonly range: TimeRange;
  readonly admin: boolean;
  readonly onChange: (patch: Partial<LogParams>) => void;
}

export function LogFilters({ params, range, admin, onChange }: LogFiltersProps) {
  const t = useText(logTexts);
  const common = useText(commonTexts);
  const groups = useGroupNames(admin);
  const types: readonly Choice[] = [
    { value: '', label: common('all') },
    ...logTypes.map((type) => ({ value: type, label: t(`type.${type}`) })),
  ];
  return (
    <FilterBar active={activeFilters(params)} onReset={() => onChange(logDefaults)}>
      <RangeFilters params={params} range={range} onChange={onChange} />
      <SelectFilter
        label={t('filter.type')}
        value={params.type}
        options={types}
        onChange={(type) => onChange({ type })}
      />
      <TextFilter label={t('filter.token')} value={params.token} onChange={(token) => onChange({ token })} />
      <TextFilter
        label={t('filter.model')}
        value={params.model}
        placeholder={t('filter.modelHint')}
        onChange={(model) => onChange({ model })}
      />
      <NameFilter
        label={t('filter.group')}
        value={params.group}
        names={groups}
        onChange={(group) => onChange({ group })}
      />
      <NameFilter
        label={t('filter.code')}
        value={params.code}
        names={refusalCodes}
        onChange={(code) => onChange({ code })}
      />
      <TextFilter label={t('filter.request')} value={params.request} onChange={(request) => onChange({ request })} />
      {admin && (
        <>
          <TextFilter
            label={t('filter.channel')}
            value={params.channel}
            onChange={(channel) => onChange({ channel: channel.replaceAll(/\D/g, '') })}
          />
          <TextFilter label={t('filter.user')} value={params.user} onChange={(user) => onChange({ user })} />
        </>
      )}
    </FilterBar>
  );
}

function RangeFilters({ params, range, onChange }: Omit<LogFiltersProps, 'admin'>) {
  const t = useText(logTexts);
  const to = range.to ?? shownEnd(new Date());
  const backwards = range.to !== null && range.from > range.to;
  const names: readonly Choice[] = [...quickRanges, 'custom' as const].map((name) => ({
    value: name,
    label: t(`range.${name}`),
  }));
  const choose = (name: string): void =>
    // What is shown is where choosing by hand begins.
    name === 'custom' ? onChange({ range: name, from: range.from, to }) : onChange({ range: name, from: 0, to: 0 });
  return (
    <>
      <SelectFilter
        label={t('range')}
        value={isQuickRange(params.range) || params.range === 'custom' ? params.range : 'today'}
        options={names}
        onChange={choose}
      />
      <MomentFilter
        label={t('range.from')}
        at={range.from}
        onChange={(from) => onChange({ range: 'custom', from, to })}
      />
      <MomentFilter
        label={t('range.to')}
        at={to}
        wrong={backwards ? t('range.backwards') : undefined}
        onChange={(chosen) => onChange({ range: 'custom', from: range.from, to: chosen })}
      />
    </>
  );
}

/** Those whose lines can be seen. */
function useGroupNames(admin: boolean): readonly string[] {
  const { data } = useQuery(LogGroupsDocument, { variables: { admin } });
  return data?.groups ?? data?.ownGroups?.map(({ name }) => name) ?? [];
}
