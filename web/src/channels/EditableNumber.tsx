import { InputGroup } from '@blueprintjs/core';
import { useEffect, useState } from 'react';

interface EditableNumberProps {
  readonly label: string;
  readonly value: number;
  readonly isValid: (text: string) => boolean;
  /** What is allowed; shown while what is typed is not. */
  readonly problem: string;
  /** Called with Enter and when the field is left, if the number is another. Rejects when it could not be stored. */
  readonly onCommit: (value: number) => Promise<unknown>;
}

/** A number of a table, changed where it stands. Escape takes back what was typed. */
export function EditableNumber({ label, value, isValid, problem, onCommit }: EditableNumberProps) {
  const [text, setText] = useState(String(value));
  const [busy, setBusy] = useState(false);
  useEffect(() => setText(String(value)), [value]);
  const valid = isValid(text);

  const commit = async (): Promise<void> => {
    if (busy || Number(text) === value || !valid) return;
    setBusy(true);
    await onCommit(Number(text)).catch(() => setText(String(value)));
    setBusy(false);
  };

  return (
    <InputGroup
      size="small"
      className="editable-number"
      aria-label={label}
      aria-invalid={!valid}
      title={valid ? undefined : problem}
      intent={valid ? 'none' : 'danger'}
      inputMode="numeric"
      readOnly={busy}
      value={text}
      onValueChange={setText}
      onBlur={() => {
        if (valid) void commit();
        else setText(String(value));
      }}
      onKeyDown={({ key }) => {
        if (key === 'Enter') void commit();
        if (key === 'Escape') setText(String(value));
      }}
    />
  );
}
