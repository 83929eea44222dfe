import { MenuItem } from '@blueprintjs/core';
import { Suggest } from '@blueprintjs/select';
import type { KeyboardEvent } from 'react';
import { Field, type ValueProps } from '../kit/form/Fields.js';
import { useText } from '../kit/words/i18n.js';
import { type ChannelChoice, typesFor } from './channelDraft.js';
import { channelsTexts } from './channels.texts.js';

interface TypeSelectProps extends ValueProps<number> {
  readonly choices: readonly ChannelChoice[];
}

interface TypeOption extends Pick<ChannelChoice, 'type'> {
  readonly label: string;
  readonly colour: string;
}

/** By any part of its name, or by its number. */
const matching = (query: string, options: readonly TypeOption[]): TypeOption[] => {
  const wanted = query.trim().toLowerCase();
  return options.filter(({ type, label }) => label.toLowerCase().includes(wanted) || String(type) === wanted);
};

function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
  // It takes what is marked in the list, and is not for the form.
  if (event.key === 'Enter') event.preventDefault();
  // What it closes is the list, and not the drawer as well.
  if (event.key === 'Escape' && event.currentTarget.ariaExpanded === 'true') event.stopPropagation();
}

/** One provider out of many, looked for by name or number. */
export function TypeSelect({ choices, value, onChange, ...field }: TypeSelectProps) {
  const t = useText(channelsTexts);
  const options = typesFor(choices, value).map(({ type, name, colour, served, deprecated }): TypeOption => {
    const label = served ? (deprecated ? t('type.deprecated', { name }) : name) : t('type.notServed', { name });
    return { type, label, colour: colour ?? 'grey' };
  });
  const chosen = options.find(({ type }) => type === value);
  const unknown = { type: value, label: t('type.unknown', { type: value }), colour: 'grey' };
  return (
    <Field {...field}>
      {(attributes) => (
        <Suggest<TypeOption>
          fill
          items={options}
          itemsEqual="type"
          itemListPredicate={matching}
          itemRenderer={({ type, label, colour }, { handleClick, handleFocus, modifiers, ref }) => (
            <MenuItem
              key={type}
              ref={ref}
              icon={<span className={`type-dot type-${colour}`} aria-hidden="true" />}
              text={label}
              label={String(type)}
              active={modifiers.active}
              selected={type === value}
              roleStructure="listoption"
              onClick={handleClick}
              onFocus={handleFocus}
            />
          )}
          inputValueRenderer={({ label }) => label}
          noResults={<MenuItem disabled text={t('type.none')} roleStructure="listoption" />}
          selectedItem={chosen ?? unknown}
          onItemSelect={({ type }) => onChange(type)}
          resetOnClose
          disabled={attributes.disabled}
          popoverProps={{ minimal: true, matchTargetWidth: true, popoverClassName: 'type-options' }}
          inputProps={{ ...attributes, placeholder: t('type.hint'), onKeyDown }}
        />
      )}
    </Field>
  );
}
