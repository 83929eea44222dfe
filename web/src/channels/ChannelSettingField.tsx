import { TagInput } from '@blueprintjs/core';
import { Field, SwitchField } from '../kit/form/Fields.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';
import { JsonField } from './JsonField.js';
import { objectIn, withMember } from './jsonDraft.js';
import { PurchasePricesField } from './PurchasePricesField.js';

/** What the gateway reads of a channel's settings, and is switched. */
const flags = [
  'force_format',
  'thinking_to_content',
  'chat_only',
  'responses',
  'responses_only',
  'pass_through_body_enabled',
] as const;

const responsesModels = 'responses_only_models';

interface ChannelSettingFieldProps {
  /** A JSON object as text. */
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly error?: string;
}

/** Switches for what is known of a channel's settings, over the JSON that holds all of them. */
export function ChannelSettingField({ value, onChange, error }: ChannelSettingFieldProps) {
  const t = useText(channelsTexts);
  const settings = objectIn(value);
  const listed = settings?.[responsesModels];
  const models = Array.isArray(listed) ? listed.filter((model) => typeof model === 'string') : [];
  const setModels = (named: readonly string[]): void => {
    const kept = [...new Set(named.map((model) => model.trim()).filter((model) => model !== ''))];
    const text = withMember(value, responsesModels, kept.length > 0 ? kept : undefined);
    if (text !== null) onChange(text);
  };
  return (
    <>
      {flags.map((flag) => (
        <SwitchField
          key={flag}
          label={t(`setting.${flag}`)}
          hint={t(`setting.${flag}.hint`)}
          disabled={settings === null}
          value={settings?.[flag] === true}
          onChange={(on) => {
            const text = withMember(value, flag, on ? true : undefined);
            if (text !== null) onChange(text);
          }}
        />
      ))}
      <Field
        label={t(`setting.${responsesModels}`)}
        hint={t(`setting.${responsesModels}.hint`)}
        disabled={settings === null}
      >
        {({ id, disabled, ...attributes }) => (
          <TagInput
            fill
            addOnBlur
            addOnPaste
            disabled={disabled}
            inputProps={{ id, ...attributes }}
            onKeyDown={(event) => {
              // Enter adds a model; it must not send the form besides.
              if (event.key === 'Enter') event.preventDefault();
            }}
            separator={/[,，\n]/}
            values={models}
            tagProps={{ minimal: true }}
            onAdd={(typed) => setModels([...models, ...typed])}
            onRemove={(_model, at) => setModels(models.filter((_, place) => place !== at))}
          />
        )}
      </Field>
      <PurchasePricesField value={value} onChange={onChange} />
      <JsonField
        label={t('form.setting')}
        hint={t('form.settingHint')}
        value={value}
        onChange={onChange}
        error={error}
      />
    </>
  );
}
