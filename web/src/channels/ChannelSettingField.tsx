import { SwitchField } from '../kit/form/Fields.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';
import { JsonField } from './JsonField.js';
import { objectIn, withMember } from './jsonDraft.js';

/** What the gateway reads of a channel's settings, and is switched. */
const flags = ['force_format', 'thinking_to_content', 'pass_through_body_enabled'] as const;

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
