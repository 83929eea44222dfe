import { Button, HTMLSelect, InputGroup } from '@blueprintjs/core';
import { Filter, Search } from '@blueprintjs/icons';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { useNarrow } from '../narrow.js';
import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';

interface FilterBarProps {
  /** How many filters differ from their default. */
  readonly active: number;
  readonly onReset: () => void;
  readonly children: ReactNode;
}

/** The filters of a list in a row; on phones behind one button. */
export function FilterBar({ active, onReset, children }: FilterBarProps) {
  const t = useText(commonTexts);
  const narrow = useNarrow();
  const [unfolded, setUnfolded] = useState(false);
  const fields = useId();
  const shown = !narrow || unfolded;
  return (
    <search className="filter-bar">
      {narrow && (
        <Button
          icon={<Filter />}
          text={active > 0 ? t('filter.active', { active }) : t('filter.title')}
          aria-expanded={unfolded}
          aria-controls={fields}
          onClick={() => setUnfolded(!unfolded)}
        />
      )}
      {shown && (
        <div id={fields} className="filter-fields">
          {children}
          {active > 0 && <Button variant="minimal" text={t('reset')} onClick={onReset} />}
        </div>
      )}
    </search>
  );
}

interface FilterFieldProps {
  readonly label: string;
  readonly children: (id: string) => ReactNode;
}

/** A labelled control in the bar, for filters that are neither of the two below. */
export function FilterField({ label, children }: FilterFieldProps) {
  const id = useId();
  return (
    <div className="filter-field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

interface TextFilterProps {
  readonly label: string;
  readonly value: string;
  /** Called with Enter and when the field is left, not with every key. */
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
}

export function TextFilter({ label, value, onChange, placeholder }: TextFilterProps) {
  const [text, setText] = useState(value);
  // The address is the truth: back and reset change it under our hands.
  useEffect(() => setText(value), [value]);
  const commit = (): void => {
    const wanted = text.trim();
    if (wanted !== value) onChange(wanted);
  };
  return (
    <FilterField label={label}>
      {(id) => (
        <InputGroup
          id={id}
          type="search"
          leftElement={<Search className="filter-icon" />}
          value={text}
          placeholder={placeholder}
          onValueChange={setText}
          onBlur={commit}
          onKeyDown={({ key }) => {
            if (key === 'Enter') commit();
          }}
        />
      )}
    </FilterField>
  );
}

export interface Choice<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
}

interface SelectFilterProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
}

export function SelectFilter<Value extends string>({ label, value, options, onChange }: SelectFilterProps<Value>) {
  return (
    <FilterField label={label}>
      {(id) => (
        <HTMLSelect
          id={id}
          value={value}
          options={options}
          onChange={({ currentTarget }) => {
            const chosen = options.find((option) => option.value === currentTarget.value);
            if (chosen !== undefined) onChange(chosen.value);
          }}
        />
      )}
    </FilterField>
  );
}

interface NameFilterProps {
  readonly label: string;
  /** Empty: all of them. */
  readonly value: string;
  readonly names: readonly string[];
  readonly onChange: (name: string) => void;
}

/** One of the names there are, or all. The chosen one is among them even when it is gone: what it had is not. */
export function NameFilter({ names, value, ...filter }: NameFilterProps) {
  const t = useText(commonTexts);
  const offered = [...new Set([...names, value])].filter((name) => name !== '');
  const options = [{ value: '', label: t('all') }, ...offered.map((name) => ({ value: name, label: name }))];
  return <SelectFilter {...filter} value={value} options={options} />;
}
