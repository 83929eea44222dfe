import type { SettingOptionFragment } from '../generated/settings/settings.js';
import { PasswordField, SelectField, SwitchField, TextAreaField, TextField } from '../kit/form/Fields.js';
import { formatQuota } from '../kit/quota.js';
import { useQuotaUnits } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { isJson } from './drafts.js';
import { settingsTexts } from './settings.texts.js';

interface SettingControlProps {
  readonly option: SettingOptionFragment;
  readonly label: string;
  readonly hint: string;
  readonly error?: string;
  readonly disabled: boolean;
  readonly text: string;
  readonly isQuota: boolean;
  /** The stored secret will be taken away. */
  readonly isRemoved: boolean;
  readonly onType: (text: string) => void;
}

const minRows = 3;
const maxRows = 14;

/** The control for what an option may hold. */
export function SettingControl({ option, isQuota, isRemoved, text, onType, ...field }: SettingControlProps) {
  const t = useText(settingsTexts);
  const units = useQuotaUnits();
  const { kind } = option;
  if (kind === 'BOOLEAN') {
    const hint =
      field.error === undefined ? (
        field.hint
      ) : (
        <span role="alert" className="setting-error">
          {field.error}
        </span>
      );
    return <SwitchField {...field} hint={hint} value={text === 'true'} onChange={(on) => onType(String(on))} />;
  }
  if (kind === 'SECRET') {
    const state = isRemoved ? t('secret.removed') : option.isSet ? t('secret.set') : '';
    const hint = `${field.hint} ${state}`.trim();
    return <PasswordField {...field} hint={hint} value={text} onChange={onType} autoComplete="new-password" />;
  }
  if (kind === 'CHOICE') {
    const options = option.choices.map((choice) => ({ value: choice, label: choiceText(t, choice) }));
    return <SelectField {...field} value={text} options={options} onChange={onType} />;
  }
  if (isJson(option) || option.lines) {
    const lines = text.split('\n').length;
    const rows = Math.min(Math.max(lines, minRows), maxRows);
    return <TextAreaField {...field} value={text} onChange={onType} rows={rows} monospace={isJson(option)} />;
  }
  const quota = Number(text);
  const isAmount = isQuota && text.trim() !== '' && Number.isSafeInteger(quota);
  const money = isAmount ? t('hint.money', { money: formatQuota(quota, { ...units, inCurrency: true }) }) : '';
  return <TextField {...field} hint={`${field.hint} ${money}`.trim()} value={text} onChange={onType} />;
}

const choiceText = (t: ReturnType<typeof useText<typeof settingsTexts.zh>>, choice: string): string => {
  switch (choice) {
    case 'hour':
    case 'day':
    case 'week':
      return t(`choice.${choice}`);
    default:
      return choice;
  }
};
