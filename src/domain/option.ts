import type { Decider } from './decider.js';
import { assertNever, Failure, invalidField } from './failure.js';
import type { SecretId } from './ids.js';
import { optionDefinition, prerequisiteOf } from './option-table.js';

/* The key/value store an operator configures the gateway with. Stream `options`. */

/** A secret option's value lives in the vault; its event names it only. */
export type OptionValue = { readonly text: string } | { readonly secret: SecretId };

export type OptionEvent = { type: 'OptionChanged'; key: string; value: OptionValue };
export type OptionCommand = { type: 'ChangeOption'; key: string; value: OptionValue };
export type Options = { readonly values: ReadonlyMap<string, OptionValue> };

const same = (a: OptionValue | undefined, b: OptionValue): boolean =>
  a !== undefined && 'text' in a && 'text' in b && a.text === b.text;

const isFilled = (values: Options['values'], key: string): boolean => {
  const value = values.get(key) ?? { text: optionDefinition(key)?.initial ?? '' };
  return 'secret' in value || value.text.trim() !== '';
};

/** Options nobody here knows are kept for clients that do; each of them stays for ever. */
const maxForeignOptions = 200;

const foreign = (values: Options['values']): number =>
  [...values.keys()].filter((key) => optionDefinition(key) === null).length;

export const optionDecider: Decider<Options, OptionCommand, OptionEvent> = {
  initial: { values: new Map() },
  decide(command, { values }) {
    switch (command.type) {
      case 'ChangeOption': {
        const { key, value } = command;
        const needed = 'text' in value && value.text === 'true' ? prerequisiteOf(key) : null;
        if (needed !== null && !isFilled(values, needed))
          throw new Failure('option-prerequisite-missing', { field: key, needed });
        if (!values.has(key) && optionDefinition(key) === null && foreign(values) >= maxForeignOptions)
          throw invalidField('key', `the name of an option; ${maxForeignOptions} others are kept already`);
        return same(values.get(key), value) ? [] : [{ type: 'OptionChanged', key, value }];
      }
      default:
        return assertNever(command.type);
    }
  },
  evolve({ values }, event) {
    switch (event.type) {
      case 'OptionChanged':
        return { values: new Map(values).set(event.key, event.value) };
      default:
        return assertNever(event.type);
    }
  },
};
