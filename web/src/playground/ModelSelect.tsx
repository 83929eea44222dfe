import { MenuItem } from '@blueprintjs/core';
import { Suggest } from '@blueprintjs/select';
import { Field, type ValueProps } from '../kit/form/Fields.js';
import { useText } from '../kit/words/i18n.js';
import { playgroundTexts } from './playground.texts.js';

interface ModelSelectProps extends ValueProps<string> {
  readonly models: readonly string[];
}

/** A gateway may have thousands of models; who looks for one types. */
const maxShown = 100;

const matching = (query: string, models: readonly string[]): string[] => {
  const wanted = query.trim().toLowerCase();
  return models.filter((model) => model.toLowerCase().includes(wanted)).slice(0, maxShown);
};

/** One model out of many. */
export function ModelSelect({ models, value, onChange, ...field }: ModelSelectProps) {
  const t = useText(playgroundTexts);
  return (
    <Field {...field}>
      {(attributes) => (
        <Suggest<string>
          fill
          items={[...models]}
          itemListPredicate={matching}
          itemRenderer={(model, { handleClick, handleFocus, modifiers, ref }) => (
            <MenuItem
              key={model}
              ref={ref}
              text={model}
              active={modifiers.active}
              selected={model === value}
              roleStructure="listoption"
              onClick={handleClick}
              onFocus={handleFocus}
            />
          )}
          inputValueRenderer={(model) => model}
          noResults={<MenuItem disabled text={t('settings.modelsNone')} roleStructure="listoption" />}
          selectedItem={value}
          onItemSelect={onChange}
          resetOnClose
          disabled={attributes.disabled}
          popoverProps={{ minimal: true, matchTargetWidth: true }}
          inputProps={{ ...attributes, placeholder: t('settings.modelHint') }}
        />
      )}
    </Field>
  );
}
