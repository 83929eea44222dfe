import { useState } from 'react';
import { FilterBar, SelectFilter, TextFilter } from '../kit/table/FilterBar.js';
import { MomentFilter } from '../kit/table/MomentFilter.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { auditTexts } from './audit.texts.js';
import { type AuditParams, activeFilters, auditDefaults, causes, kinds } from './auditParams.js';

interface AuditFiltersProps {
  readonly params: AuditParams;
  /** The id of who looks. */
  readonly own: string;
  readonly onChange: (patch: Partial<AuditParams>) => void;
}

export function AuditFilters({ params, own, onChange }: AuditFiltersProps) {
  const t = useText(auditTexts);
  const common = useText(commonTexts);
  const backwards = params.from > 0 && params.to > 0 && params.from > params.to;
  return (
    <FilterBar active={activeFilters(params, own)} onReset={() => onChange(auditDefaults(own))}>
      <AuditedFilters params={params} onChange={onChange} />
      <SelectFilter
        label={t('filter.cause')}
        value={params.cause}
        options={[
          { value: '', label: common('all') },
          ...causes.map((known) => ({ value: known, label: t(`cause.${known}`) })),
        ]}
        onChange={(cause) => onChange({ cause })}
      />
      <MomentFilter label={t('filter.from')} at={params.from} mayBeOpen onChange={(from) => onChange({ from })} />
      <MomentFilter
        label={t('filter.to')}
        at={params.to}
        mayBeOpen
        wrong={backwards ? t('filter.backwards') : undefined}
        onChange={(to) => onChange({ to })}
      />
      <MomentFilter label={t('filter.at')} at={useMoment(params.at)} onChange={(at) => onChange({ at })} />
    </FilterBar>
  );
}

interface AuditedFiltersProps {
  readonly params: Pick<AuditParams, 'kind' | 'id'>;
  readonly onChange: (patch: Partial<Pick<AuditParams, 'kind' | 'id'>>) => void;
}

/** Whose history it is. */
export function AuditedFilters({ params, onChange }: AuditedFiltersProps) {
  const t = useText(auditTexts);
  return (
    <>
      <SelectFilter
        label={t('filter.kind')}
        value={params.kind}
        options={kinds.map((known) => ({ value: known, label: t(`kind.${known}`) }))}
        onChange={(kind) => onChange({ kind })}
      />
      <TextFilter
        label={t('filter.id')}
        placeholder={t('filter.idHint')}
        value={params.id}
        onChange={(id) => onChange({ id })}
      />
    </>
  );
}

/** Now, until another time is chosen. */
export function useMoment(at: number): number {
  const [opened] = useState(() => Math.floor(Date.now() / 1000));
  return at > 0 ? at : opened;
}
