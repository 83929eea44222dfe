import type { FormEvent } from 'react';
import { TextField } from '../kit/form/Fields.js';
import { NumberField } from '../kit/form/NumberField.js';
import { QuotaInput } from '../kit/form/QuotaInput.js';
import { useText } from '../kit/words/i18n.js';
import { redemptionTexts } from './redemption.texts.js';
import type { RedemptionDraft, RedemptionProblems } from './redemptionDraft.js';

interface RedemptionFormProps {
  readonly id: string;
  readonly draft: RedemptionDraft;
  readonly onChange: (draft: RedemptionDraft) => void;
  readonly problems: RedemptionProblems;
  readonly isNew: boolean;
  readonly onSubmit: () => void;
}

export function RedemptionForm({ id, draft, onChange, problems, isNew, onSubmit }: RedemptionFormProps) {
  const t = useText(redemptionTexts);
  const set = (patch: Partial<RedemptionDraft>): void => onChange({ ...draft, ...patch });
  const said = (field: keyof RedemptionDraft): string | undefined => {
    const problem = problems[field];
    return problem === undefined ? undefined : t(`problem.${problem}`);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form id={id} onSubmit={submit} noValidate>
      <TextField
        label={t('form.name')}
        hint={isNew ? t('form.nameHint') : undefined}
        required={!isNew}
        autoFocus={isNew}
        value={draft.name}
        onChange={(name) => set({ name })}
        error={said('name')}
      />
      <QuotaInput
        label={t('form.quota')}
        required
        value={draft.quota}
        onChange={(quota) => set({ quota })}
        error={said('quota')}
      />
      {isNew && (
        <NumberField
          label={t('form.count')}
          hint={t('form.countHint')}
          min={1}
          max={100}
          value={draft.count}
          onChange={(count) => set({ count })}
          error={said('count')}
        />
      )}
    </form>
  );
}
