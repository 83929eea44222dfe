import type { ChannelStatus } from '../generated/channels/channels.js';
import { channelStateTexts } from '../kit/channel/channelState.texts.js';
import { FilterBar, NameFilter, SelectFilter, TextFilter } from '../kit/table/FilterBar.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';

interface FilterValues {
  readonly keyword: string;
  readonly group: string;
  readonly model: string;
  readonly status: string;
  /** `failed`: only those whose last test failed. */
  readonly test: string;
}

interface ChannelFiltersProps {
  readonly value: FilterValues;
  readonly groups: readonly string[];
  readonly statuses: readonly ChannelStatus[];
  readonly onChange: (patch: Partial<FilterValues>) => void;
}

export function ChannelFilters({ value, groups, statuses, onChange }: ChannelFiltersProps) {
  const t = useText(channelsTexts);
  const state = useText(channelStateTexts);
  const common = useText(commonTexts);
  const { keyword, group, model, status, test } = value;
  return (
    <FilterBar
      active={[keyword, group, model, status, test].filter((text) => text !== '').length}
      onReset={() => onChange({ keyword: '', group: '', model: '', status: '', test: '' })}
    >
      <TextFilter
        label={t('filter.keyword')}
        placeholder={t('filter.keywordHint')}
        value={keyword}
        onChange={(text) => onChange({ keyword: text })}
      />
      <TextFilter
        label={t('filter.model')}
        placeholder={t('filter.modelHint')}
        value={model}
        onChange={(text) => onChange({ model: text })}
      />
      <NameFilter
        label={t('filter.group')}
        value={group}
        names={groups}
        onChange={(name) => onChange({ group: name })}
      />
      <SelectFilter
        label={t('filter.status')}
        value={status}
        options={[
          { value: '', label: common('all') },
          ...statuses.map((one) => ({ value: one, label: state(`status.${one}`) })),
        ]}
        onChange={(one) => onChange({ status: one })}
      />
      <SelectFilter
        label={t('filter.test')}
        value={test}
        options={[
          { value: '', label: common('all') },
          { value: 'failed', label: t('filter.testFailed') },
        ]}
        onChange={(one) => onChange({ test: one })}
      />
    </FilterBar>
  );
}
