import { beginning, type Position } from '../events/events.js';
import type { Decider } from '../kernel/decider.js';
import { assertNever, Failure, invalidField } from '../kernel/failure.js';
import type { SecretId, UserId } from '../kernel/ids.js';
import { optionDefinition, prerequisiteOf } from './option-table.js';

/* The key/value store an operator configures the gateway with. Stream `options`. */

/** A secret option's value lives in the vault; its event names it only. */
export type OptionValue = { readonly text: string } | { readonly secret: SecretId };

/** `by`: who changed it; events of earlier releases do not tell. */
export type OptionEvent = { type: 'OptionChanged'; key: string; value: OptionValue; by?: UserId };

export type OptionCommand = {
  type: 'ChangeOption';
  key: string;
  value: OptionValue;
  by: UserId;
  /** The change of this option that whoever gives the order has seen last, `beginning` for none; null: any. */
  seenAt?: Position | null;
};

export type Options = {
  readonly values: ReadonlyMap<string, OptionValue>;
  readonly changedAt: ReadonlyMap<string, Position>;
};

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
  initial: { values: new Map(), changedAt: new Map() },
  decide(command, { values, changedAt }) {
    switch (command.type) {
      case 'ChangeOption': {
        const { key, value, by, seenAt = null } = command;
        // Somebody else wanted the same: nobody's change is lost.
        if (same(values.get(key), value)) return [];
        const position = changedAt.get(key) ?? beginning;
        if (seenAt !== null && seenAt !== position)
          throw new Failure('option-changed', { field: key, position: Number(position) });
        const needed = 'text' in value && value.text === 'true' ? prerequisiteOf(key) : null;
        if (needed !== null && !isFilled(values, needed))
          throw new Failure('option-prerequisite-missing', { field: key, needed });
        if (!values.has(key) && optionDefinition(key) === null && foreign(values) >= maxForeignOptions)
          throw invalidField('key', `the name of an option; ${maxForeignOptions} others are kept already`);
        return [{ type: 'OptionChanged', key, value, by }];
      }
      default:
        return assertNever(command.type);
    }
  },
  evolve({ values, changedAt }, event, { position } = { position: beginning }) {
    switch (event.type) {
      case 'OptionChanged':
        return {
          values: new Map(values).set(event.key, event.value),
          changedAt: new Map(changedAt).set(event.key, position),
        };
      default:
        return assertNever(event.type);
    }
  },
};
