import { NumericInput } from '@blueprintjs/core';
import { Field, type ValueProps } from './Fields.js';

interface NumberFieldProps extends ValueProps<number | null> {
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
}

/** null: the field is empty. What is not a number yet, like a lone minus, leaves the value as it is. */
export function NumberField({ value, onChange, min, max, step = 1, ...field }: NumberFieldProps) {
  return (
    <Field {...field}>
      {(attributes) => (
        <NumericInput
          {...attributes}
          fill
          value={value ?? ''}
          min={min}
          max={max}
          stepSize={step}
          minorStepSize={Number.isInteger(step) ? null : step}
          // The arrow keys step; Blueprint's buttons would name a control that does not exist.
          buttonPosition="none"
          clampValueOnBlur
          intent={field.error === undefined ? 'none' : 'danger'}
          onValueChange={(parsed, text) => {
            if (text.trim() === '') onChange(null);
            else if (Number.isFinite(parsed)) onChange(parsed);
          }}
        />
      )}
    </Field>
  );
}
