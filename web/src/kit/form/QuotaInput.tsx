import { Button, Classes, ControlGroup, InputGroup, Menu, MenuItem, PopoverNext } from '@blueprintjs/core';
import { CaretDown, Dollar } from '@blueprintjs/icons';
import { useState } from 'react';
import { formatExactly } from '../figures.js';
import { formatQuota, parseQuota, quotaAsTyped, quotaPresets } from '../quota.js';
import { useQuotaUnits } from '../SessionProvider.js';
import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';
import { Field, type ValueProps } from './Fields.js';

/** `value` in quota; null: nothing was typed, or no amount. The other unit stands beside what is typed. */
export function QuotaInput({ value, onChange, error, ...field }: ValueProps<number | null>) {
  const t = useText(commonTexts);
  const units = useQuotaUnits();
  const [text, setText] = useState(() => (value === null ? '' : quotaAsTyped(value, units)));
  const typed = parseQuota(text, units);
  // Set from outside, e.g. by a form that was filled with another item.
  const shown = typed !== undefined && typed !== value ? (value === null ? '' : quotaAsTyped(value, units)) : text;

  const change = (next: string): void => {
    setText(next);
    onChange(parseQuota(next, units) ?? null);
  };
  const offered = (quota: number): string => formatQuota(quota, { ...units, inCurrency: true });
  const converted =
    value === null
      ? field.hint
      : units.inCurrency
        ? t('quota.hint', { quota: formatExactly(value) })
        : t('quota.hintMoney', { money: offered(value) });
  return (
    <Field {...field} hint={converted} error={typed === undefined ? t('quota.invalid') : error}>
      {(attributes) => (
        <ControlGroup fill>
          <InputGroup
            {...attributes}
            inputMode={units.inCurrency ? 'decimal' : 'numeric'}
            leftElement={units.inCurrency ? <Dollar className="filter-icon" /> : undefined}
            value={shown}
            onValueChange={change}
            intent={typed === undefined || error !== undefined ? 'danger' : 'none'}
            autoComplete="off"
            className="figures"
          />
          <PopoverNext
            className={Classes.FIXED}
            placement="bottom-end"
            content={
              <Menu>
                {quotaPresets.map((quota) => (
                  <MenuItem
                    key={quota}
                    text={offered(quota)}
                    label={formatExactly(quota)}
                    onClick={() => change(quotaAsTyped(quota, units))}
                  />
                ))}
              </Menu>
            }
          >
            <Button
              icon={<CaretDown />}
              aria-label={t('quota.presets')}
              title={t('quota.presets')}
              disabled={field.disabled}
            />
          </PopoverNext>
        </ControlGroup>
      )}
    </Field>
  );
}
