import { MenuItem } from '@blueprintjs/core';
import { MultiSelect } from '@blueprintjs/select';
import { Field, type ValueProps } from '../kit/form/Fields.js';
import { useText } from '../kit/words/i18n.js';
import { tokensTexts } from './tokens.texts.js';

interface ModelPickerProps extends ValueProps<readonly string[]> {
  /** What is offered; anything else can be typed: a model may come tomorrow. */
  readonly models: readonly string[];
}

const contains = (query: string, model: string): boolean => model.toLowerCase().includes(query.trim().toLowerCase());

export function ModelPicker({ models, value, onChange, ...field }: ModelPickerProps) {
  const t = useText(tokensTexts);
  const toggle = (model: string): void =>
    onChange(value.includes(model) ? value.filter((chosen) => chosen !== model) : [...value, model]);
  return (
    <Field {...field}>
      {(attributes) => (
        <MultiSelect<string>
          fill
          items={[...new Set([...models, ...value])]}
          selectedItems={[...value]}
          itemPredicate={contains}
          itemRenderer={(model, { handleClick, handleFocus, modifiers, ref }) =>
            modifiers.matchesPredicate ? (
              <MenuItem
                key={model}
                ref={ref}
                text={model}
                active={modifiers.active}
                selected={value.includes(model)}
                roleStructure="listoption"
                shouldDismissPopover={false}
                onClick={handleClick}
                onFocus={handleFocus}
              />
            ) : null
          }
          tagRenderer={(model) => model}
          createNewItemFromQuery={(query) => query.trim()}
          createNewItemRenderer={(query, active, onClick) => (
            <MenuItem
              text={t('form.modelAdd', { model: query.trim() })}
              active={active}
              roleStructure="listoption"
              shouldDismissPopover={false}
              onClick={onClick}
            />
          )}
          noResults={<MenuItem disabled text={t('form.modelsNone')} roleStructure="listoption" />}
          onItemSelect={toggle}
          onRemove={toggle}
          onClear={() => onChange([])}
          placeholder={t('form.modelsHint')}
          resetOnSelect
          popoverProps={{ minimal: true, matchTargetWidth: true }}
          tagInputProps={{
            disabled: attributes.disabled,
            inputProps: { ...attributes, 'aria-label': field.label },
          }}
        />
      )}
    </Field>
  );
}
