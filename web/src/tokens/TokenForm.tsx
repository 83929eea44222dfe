import { Button, ButtonGroup } from '@blueprintjs/core';
import type { FormEvent } from 'react';
import type { TokenChoicesQuery, TokenTermsFragment } from '../generated/tokens/tokens.js';
import { SelectField, SwitchField, TextAreaField, TextField } from '../kit/form/Fields.js';
import { NumberField } from '../kit/form/NumberField.js';
import { QuotaInput } from '../kit/form/QuotaInput.js';
import { useText } from '../kit/words/i18n.js';
import { ModelPicker } from './ModelPicker.js';
import { TokenBudget } from './TokenBudget.js';
import {
  batchSizes,
  type ExpiryShortcut,
  expiryShortcuts,
  expiryText,
  periods,
  type problemsOf,
  type TokenDraft,
  type TokenField,
} from './tokenDraft.js';
import { tokensTexts } from './tokens.texts.js';

interface TokenFormProps {
  readonly id: string;
  readonly draft: TokenDraft;
  readonly onChange: (draft: TokenDraft) => void;
  /** Said beside their fields. */
  readonly problems: ReturnType<typeof problemsOf>;
  readonly choices: TokenChoicesQuery | undefined;
  readonly isNew: boolean;
  /** How the budget it has stands; null: it has none. */
  readonly standing: TokenTermsFragment['budget'];
  readonly onSubmit: () => void;
}

const shortcuts = Object.keys(expiryShortcuts) as readonly ExpiryShortcut[];

export function TokenForm({ id, draft, onChange, problems, choices, isNew, standing, onSubmit }: TokenFormProps) {
  const t = useText(tokensTexts);
  const set = (patch: Partial<TokenDraft>): void => onChange({ ...draft, ...patch });
  const said = (field: TokenField): string | undefined => {
    const problem = problems[field];
    return problem === undefined ? undefined : t(`problem.${problem}`);
  };
  const expireIn = (shortcut: ExpiryShortcut): void => {
    const seconds = expiryShortcuts[shortcut];
    set({ expiry: expiryText(seconds === null ? null : Math.floor(Date.now() / 1000) + seconds) });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form id={id} onSubmit={submit} noValidate className="token-form">
      <TextField
        label={t('form.name')}
        required
        autoFocus={isNew}
        value={draft.name}
        onChange={(name) => set({ name })}
        error={said('name')}
      />
      <TextField
        label={t('form.expiry')}
        type="datetime-local"
        hint={t('form.expiryHint')}
        value={draft.expiry}
        onChange={(expiry) => set({ expiry })}
        error={said('expiry')}
      />
      <ButtonGroup className="field-shortcuts" role="group" aria-label={t('form.shortcuts')}>
        {shortcuts.map((shortcut) => (
          <Button key={shortcut} size="small" text={t(`expiry.${shortcut}`)} onClick={() => expireIn(shortcut)} />
        ))}
      </ButtonGroup>
      <SwitchField
        label={t('form.unlimited')}
        hint={t('form.unlimitedHint')}
        value={draft.unlimited}
        onChange={(unlimited) => set({ unlimited })}
      />
      {!draft.unlimited && (
        <QuotaInput
          label={t('form.quota')}
          required
          value={draft.quota}
          onChange={(quota) => set({ quota })}
          error={said('quota')}
        />
      )}
      <SwitchField
        label={t('form.budget')}
        hint={t('form.budgetHint')}
        value={draft.budgeted}
        onChange={(budgeted) => set({ budgeted })}
      />
      {draft.budgeted && (
        <>
          <QuotaInput
            label={t('form.budgetQuota')}
            required
            value={draft.budget}
            onChange={(budget) => set({ budget })}
            error={said('budget')}
          />
          <SelectField
            label={t('form.period')}
            hint={t('form.periodHint')}
            value={draft.period}
            options={periods.map((period) => ({ value: period, label: t(`period.${period}`) }))}
            onChange={(period) => set({ period })}
          />
        </>
      )}
      {standing !== null && <TokenBudget budget={standing} />}
      <GroupField draft={draft} choices={choices} onChange={(group) => set({ group })} />
      <SwitchField
        label={t('form.limitModels')}
        hint={t('form.limitModelsHint')}
        value={draft.modelLimitsEnabled}
        onChange={(modelLimitsEnabled) => set({ modelLimitsEnabled })}
      />
      {draft.modelLimitsEnabled && (
        <ModelPicker
          label={t('form.models')}
          required
          models={choices?.ownModels ?? []}
          value={draft.modelLimits}
          onChange={(modelLimits) => set({ modelLimits })}
          error={said('models')}
        />
      )}
      <TextAreaField
        label={t('form.ips')}
        hint={t('form.ipsHint')}
        rows={3}
        monospace
        value={draft.allowIps}
        onChange={(allowIps) => set({ allowIps })}
        error={said('ips')}
      />
      <TextAreaField
        label={t('form.aliases')}
        hint={t('form.aliasesHint')}
        rows={3}
        monospace
        value={draft.aliases}
        onChange={(aliases) => set({ aliases })}
        error={said('aliases')}
      />
      {isNew && (
        <>
          <NumberField
            label={t('form.count')}
            hint={t('form.countHint')}
            min={1}
            max={100}
            value={draft.count}
            onChange={(count) => set({ count })}
            error={said('count')}
          />
          <ButtonGroup className="field-shortcuts" role="group" aria-label={t('form.countPresets')}>
            {[1, ...batchSizes].map((count) => (
              <Button
                key={count}
                size="small"
                text={count}
                active={draft.count === count}
                onClick={() => set({ count })}
              />
            ))}
          </ButtonGroup>
        </>
      )}
    </form>
  );
}

interface GroupFieldProps {
  readonly draft: TokenDraft;
  readonly choices: TokenChoicesQuery | undefined;
  readonly onChange: (group: string) => void;
}

function GroupField({ draft: { group }, choices, onChange }: GroupFieldProps) {
  const t = useText(tokensTexts);
  const usable = choices?.ownGroups ?? [];
  const options = [
    { value: '', label: t('form.groupOwn') },
    ...usable.map(({ name, description, ratio }) => ({
      value: name,
      label: t('form.groupChoice', { name, description, ratio }),
    })),
  ];
  // The one it has stays choosable, usable or not: saving the form must not change it silently.
  const known = options.some(({ value }) => value === group);
  return (
    <SelectField
      label={t('form.group')}
      value={group}
      options={known ? options : [...options, { value: group, label: group }]}
      onChange={onChange}
    />
  );
}
