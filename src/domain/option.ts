import type { Decider } from './decider.js';
import { assertNever } from './failure.js';
import type { SecretId } from './ids.js';

/* The key/value store an operator configures the gateway with. Stream `options`. */

/** A secret option's value lives in the vault; its event names it only. */
export type OptionValue = { readonly text: string } | { readonly secret: SecretId };

export type OptionEvent = { type: 'OptionChanged'; key: string; value: OptionValue };
export type OptionCommand = { type: 'ChangeOption'; key: string; value: OptionValue };
export type Options = { readonly values: ReadonlyMap<string, OptionValue> };

const same = (a: OptionValue | undefined, b: OptionValue): boolean =>
  a !== undefined && 'text' in a && 'text' in b && a.text === b.text;

export const optionDecider: Decider<Options, OptionCommand, OptionEvent> = {
  initial: { values: new Map() },
  decide(command, { values }) {
    switch (command.type) {
      case 'ChangeOption': {
        const { key, value } = command;
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
