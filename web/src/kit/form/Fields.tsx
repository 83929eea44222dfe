import { Button, FormGroup, HTMLSelect, InputGroup, Switch, TextArea } from '@blueprintjs/core';
import { EyeOff, EyeOpen } from '@blueprintjs/icons';
import { type ReactNode, useId, useState } from 'react';
import type { Choice } from '../table/FilterBar.js';
import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';

/* Labelled fields of forms. Hint and error are announced with the field they belong to. */

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with the value; undefined: nothing. */
  readonly error?: string;
  readonly required?: boolean;
  readonly disabled?: boolean;
}

interface ControlAttributes {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
  readonly 'aria-required': boolean;
  readonly disabled: boolean;
}

/** Label, hint and error around any control, which takes over the attributes it is given. */
export function Field({
  label,
  hint,
  error,
  required = false,
  disabled = false,
  children,
}: FieldProps & { readonly children: (attributes: ControlAttributes) => ReactNode }) {
  const t = useText(commonTexts);
  const id = useId();
  const note = `${id}-note`;
  const said = error ?? hint;
  return (
    <FormGroup
      label={label}
      labelFor={id}
      labelInfo={
        required ? (
          <span className="required-mark" title={t('field.required')} aria-hidden="true">
            *
          </span>
        ) : undefined
      }
      intent={error === undefined ? 'none' : 'danger'}
      helperText={
        said === undefined ? undefined : (
          <span id={note} role={error === undefined ? undefined : 'alert'}>
            {said}
          </span>
        )
      }
      disabled={disabled}
    >
      {children({
        id,
        'aria-describedby': said === undefined ? undefined : note,
        'aria-invalid': error !== undefined,
        'aria-required': required,
        disabled,
      })}
    </FormGroup>
  );
}

export interface ValueProps<Value> extends FieldProps {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

interface TextFieldProps extends ValueProps<string> {
  readonly type?: 'text' | 'email' | 'url' | 'date' | 'datetime-local';
  readonly placeholder?: string;
  readonly autoComplete?: string;
  readonly autoFocus?: boolean;
  readonly maxLength?: number;
  readonly monospace?: boolean;
}

export function TextField({ value, onChange, type = 'text', monospace = false, ...rest }: TextFieldProps) {
  const { placeholder, autoComplete = 'off', autoFocus, maxLength, ...field } = rest;
  return (
    <Field {...field}>
      {(attributes) => (
        <InputGroup
          {...attributes}
          type={type}
          value={value}
          onValueChange={onChange}
          intent={field.error === undefined ? 'none' : 'danger'}
          placeholder={placeholder}
          autoComplete={autoComplete}
          autoFocus={autoFocus}
          maxLength={maxLength}
          className={monospace ? 'monospace-input' : undefined}
        />
      )}
    </Field>
  );
}

interface PasswordFieldProps extends ValueProps<string> {
  /** `current-password` where one signs in, `new-password` where one is chosen. */
  readonly autoComplete: 'current-password' | 'new-password';
}

export function PasswordField({ value, onChange, autoComplete, ...field }: PasswordFieldProps) {
  const t = useText(commonTexts);
  const [readable, setReadable] = useState(false);
  return (
    <Field {...field}>
      {(attributes) => (
        <InputGroup
          {...attributes}
          type={readable ? 'text' : 'password'}
          value={value}
          onValueChange={onChange}
          intent={field.error === undefined ? 'none' : 'danger'}
          autoComplete={autoComplete}
          rightElement={
            field.disabled === true ? undefined : (
              <Button
                variant="minimal"
                icon={readable ? <EyeOff /> : <EyeOpen />}
                aria-label={t(readable ? 'password.hide' : 'password.show')}
                onClick={() => setReadable(!readable)}
              />
            )
          }
        />
      )}
    </Field>
  );
}

interface TextAreaFieldProps extends ValueProps<string> {
  readonly rows?: number;
  readonly placeholder?: string;
  readonly monospace?: boolean;
}

export function TextAreaField({
  value,
  onChange,
  rows = 4,
  placeholder,
  monospace = false,
  ...field
}: TextAreaFieldProps) {
  return (
    <Field {...field}>
      {(attributes) => (
        <TextArea
          {...attributes}
          fill
          rows={rows}
          value={value}
          placeholder={placeholder}
          intent={field.error === undefined ? 'none' : 'danger'}
          className={monospace ? 'monospace-input' : undefined}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface SelectFieldProps<Value extends string> extends ValueProps<Value> {
  readonly options: readonly Choice<Value>[];
}

export function SelectField<Value extends string>({ value, onChange, options, ...field }: SelectFieldProps<Value>) {
  return (
    <Field {...field}>
      {(attributes) => (
        <HTMLSelect
          {...attributes}
          fill
          value={value}
          options={options}
          onChange={({ currentTarget }) => {
            const chosen = options.find((option) => option.value === currentTarget.value);
            if (chosen !== undefined) onChange(chosen.value);
          }}
        />
      )}
    </Field>
  );
}

export function SwitchField({ label, hint, value, onChange, disabled = false }: ValueProps<boolean>) {
  const note = useId();
  return (
    <div className="switch-field">
      <Switch
        label={label}
        checked={value}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : note}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {hint !== undefined && (
        <div id={note} className="switch-hint">
          {hint}
        </div>
      )}
    </div>
  );
}
