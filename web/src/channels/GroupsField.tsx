import { Checkbox } from '@blueprintjs/core';
import { useId } from 'react';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';

interface GroupsFieldProps {
  readonly value: readonly string[];
  readonly onChange: (groups: readonly string[]) => void;
  readonly error?: string;
  /** Groups that have a ratio; those a channel has besides are offered too. */
  readonly known: readonly string[];
}

export function GroupsField({ value, onChange, error, known }: GroupsFieldProps) {
  const t = useText(channelsTexts);
  const note = useId();
  const toggle = (group: string): void =>
    onChange(value.includes(group) ? value.filter((other) => other !== group) : [...value, group]);
  return (
    <fieldset className="groups-field" aria-describedby={error === undefined ? undefined : note}>
      <legend>{t('form.groups')}</legend>
      {[...new Set([...known, ...value])].map((group) => (
        <Checkbox key={group} inline label={group} checked={value.includes(group)} onChange={() => toggle(group)} />
      ))}
      {error !== undefined && (
        <div id={note} role="alert" className="field-problem">
          {error}
        </div>
      )}
    </fieldset>
  );
}
