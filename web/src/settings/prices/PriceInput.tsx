import { InputGroup } from '@blueprintjs/core';
import { useId } from 'react';
import { useText } from '../../kit/words/i18n.js';
import { type FieldProblem, isAbout } from './fieldProblem.js';
import { pricesTexts } from './prices.texts.js';

interface PriceInputProps {
  readonly label: string;
  readonly value: string;
  /** What stands before the number: `$` or `×`; left out: nothing. */
  readonly unit?: string;
  /** Shown while the field is empty: what holds then. */
  readonly placeholder?: string;
  /** Its path in the record. */
  readonly path: string;
  readonly problem: FieldProblem | null;
  readonly onChange: (text: string) => void;
}

/** One number of a price in a grid, named for who cannot see the grid; what is wrong with it is said under it. */
export function PriceInput({ label, value, unit, placeholder, path, problem, onChange }: PriceInputProps) {
  const t = useText(pricesTexts);
  const note = useId();
  const isWrong = isAbout(problem, path);
  return (
    <div className="price-input">
      <InputGroup
        aria-label={label}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? note : undefined}
        inputMode="decimal"
        size="small"
        autoComplete="off"
        intent={isWrong ? 'danger' : 'none'}
        leftElement={unit === undefined ? undefined : <span className="price-unit">{unit}</span>}
        value={value}
        placeholder={placeholder}
        onValueChange={onChange}
      />
      {isWrong && (
        <span id={note} role="alert" className="price-input-problem">
          {t('problem.allowed', { allowed: problem?.allowed ?? '' })}
        </span>
      )}
    </div>
  );
}
