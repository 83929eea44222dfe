import { Button, ButtonGroup, TagInput } from '@blueprintjs/core';
import type { ReactNode } from 'react';
import { CopyButton } from '../kit/CopyButton.js';
import { Field } from '../kit/form/Fields.js';
import { toaster } from '../kit/Toasts.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { addModels } from './channelDraft.js';
import { channelsTexts } from './channels.texts.js';

interface ModelsFieldProps {
  readonly value: readonly string[];
  readonly onChange: (models: readonly string[]) => void;
  readonly error?: string;
  readonly required?: boolean;
  /** Of the channel's type. */
  readonly defaults?: readonly string[];
  /** Of all channels that serve. */
  readonly enabled: readonly string[];
  /** Further ways to fill it. */
  readonly tools?: ReactNode;
}

export function ModelsField({ value, onChange, error, required = true, defaults, enabled, tools }: ModelsFieldProps) {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  const add = (typed: readonly string[]): void => {
    const { models, repeated } = addModels(value, typed);
    if (repeated) toaster.warning(t('form.modelsRepeated'));
    onChange(models);
  };
  const fill = (models: readonly string[]): void => onChange(addModels(value, models).models);
  return (
    <div className="models-field">
      <Field label={t('form.models')} hint={t('form.modelsHint')} required={required} error={error}>
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
            values={value}
            tagProps={{ minimal: true }}
            intent={error === undefined ? 'none' : 'danger'}
            onAdd={(typed) => add(typed)}
            onRemove={(_model, at) => onChange(value.filter((_, index) => index !== at))}
          />
        )}
      </Field>
      <ButtonGroup variant="minimal" className="field-tools">
        {defaults !== undefined && (
          <Button
            size="small"
            text={t('form.modelsFill')}
            disabled={defaults.length === 0}
            onClick={() => fill(defaults)}
          />
        )}
        {tools}
        <Button size="small" text={t('form.modelsFillAll')} onClick={() => fill(enabled)} />
        <Button size="small" text={common('clear')} disabled={value.length === 0} onClick={() => onChange([])} />
        <CopyButton text={value.join(',')} caption={common('copy')} />
      </ButtonGroup>
    </div>
  );
}
