import { InputGroup } from '@blueprintjs/core';
import { asLocalInput, fromLocalInput } from '../form/localInput.js';
import { FilterField } from './FilterBar.js';

interface MomentFilterProps {
  readonly label: string;
  /** Unix seconds; 0: open. */
  readonly at: number;
  /** The field may be emptied, which is 0. */
  readonly mayBeOpen?: boolean;
  readonly wrong?: string;
  readonly onChange: (at: number) => void;
}

/** A moment, chosen with the browser's own means. */
export function MomentFilter({ label, at, mayBeOpen = false, wrong, onChange }: MomentFilterProps) {
  return (
    <FilterField label={label}>
      {(id) => (
        <>
          {/* Not controlled while it is typed in: half a date is no date. It begins anew when the moment changes. */}
          <InputGroup
            key={at}
            id={id}
            type="datetime-local"
            step={1}
            defaultValue={at > 0 ? asLocalInput(at) : ''}
            intent={wrong === undefined ? 'none' : 'danger'}
            aria-invalid={wrong !== undefined}
            aria-describedby={wrong === undefined ? undefined : `${id}-wrong`}
            onBlur={(event) => {
              const { value, validity } = event.currentTarget;
              // Half a date has no value either.
              const isOpen = mayBeOpen && value === '' && !validity.badInput;
              const chosen = isOpen ? 0 : fromLocalInput(value);
              if (chosen !== null && chosen !== at) onChange(chosen);
            }}
            onKeyDown={(event) => {
              if (event.key === 'Enter') event.currentTarget.blur();
            }}
          />
          {wrong !== undefined && (
            <span id={`${id}-wrong`} role="alert" className="filter-wrong">
              {wrong}
            </span>
          )}
        </>
      )}
    </FilterField>
  );
}
