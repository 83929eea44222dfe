import { Button, InputGroup, Switch } from '@blueprintjs/core';
import { Add, Cross } from '@blueprintjs/icons';
import { useState } from 'react';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';
import { JsonField } from './JsonField.js';
import { type Pair, pairsIn, repeatedPairs, textOfPairs } from './jsonDraft.js';

interface PairsFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly placeholder: string;
  /** What stands left and right. */
  readonly names: string;
  readonly values: string;
  /** A JSON object as text. */
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly error?: string;
}

/** Pairs of a name and a value, as fields or as the JSON they are: two views of one draft. */
export function PairsField({ label, hint, placeholder, names, values, value, onChange, error }: PairsFieldProps) {
  const t = useText(channelsTexts);
  // Fields may hold what no JSON can yet: a pair without a name.
  const [rows, setRows] = useState(() => pairsIn(value));
  const change = (next: readonly Pair[]): void => {
    setRows(next);
    onChange(textOfPairs(next));
  };
  return (
    <fieldset className="pairs-field">
      <legend>{label}</legend>
      <Switch
        label={t('json.asText')}
        checked={rows === null}
        // What cannot be shown as fields stays text.
        disabled={rows === null && pairsIn(value) === null}
        onChange={({ currentTarget }) => setRows(currentTarget.checked ? null : pairsIn(value))}
      />
      {rows === null ? (
        <JsonField
          label={label}
          hint={hint}
          placeholder={placeholder}
          value={value}
          onChange={onChange}
          error={error}
        />
      ) : (
        <>
          <div className="pairs-hint">{hint}</div>
          <Pairs rows={rows} names={names} values={values} onChange={change} />
        </>
      )}
    </fieldset>
  );
}

interface PairsProps {
  readonly rows: readonly Pair[];
  readonly names: string;
  readonly values: string;
  readonly onChange: (rows: readonly Pair[]) => void;
}

function Pairs({ rows, names, values, onChange }: PairsProps) {
  const t = useText(channelsTexts);
  const repeated = repeatedPairs(rows);
  const set = (at: number, pair: Pair): void => onChange(rows.map((row, index) => (index === at ? pair : row)));
  return (
    <>
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place, its name is being typed
        <div className="pair" key={at}>
          <InputGroup
            aria-label={t('json.nameOf', { title: names, row: at + 1 })}
            aria-invalid={repeated.has(at)}
            intent={repeated.has(at) ? 'danger' : 'none'}
            value={row.name}
            onValueChange={(name) => set(at, { ...row, name })}
          />
          <span aria-hidden="true">→</span>
          <InputGroup
            aria-label={t('json.nameOf', { title: values, row: at + 1 })}
            value={row.value}
            onValueChange={(value) => set(at, { ...row, value })}
          />
          <Button
            variant="minimal"
            icon={<Cross />}
            aria-label={t('json.remove', { row: at + 1 })}
            onClick={() => onChange(rows.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      {repeated.size > 0 && (
        <div className="pairs-fault" role="alert">
          {t('json.repeated')}
        </div>
      )}
      <Button
        size="small"
        icon={<Add />}
        text={t('json.add')}
        onClick={() => onChange([...rows, { name: '', value: '' }])}
      />
    </>
  );
}
