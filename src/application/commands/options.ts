import { type Position, streams } from '../../domain/events.js';
import { optionDecider } from '../../domain/option.js';
import { isSecretOption, type OptionKey } from '../../domain/option-table.js';
import { checkOption } from '../../domain/option-values.js';
import type { Actor } from '../../domain/user.js';
import { authorise } from '../authorise.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { Vault } from '../ports.js';
import type { Handle } from './handle.js';

export interface OptionCommandPorts {
  readonly handle: Handle;
  readonly vault: Vault;
  readonly directory: NodeDirectory;
}

export function optionCommands({ handle, vault, directory }: OptionCommandPorts) {
  const change = async (actor: Actor, key: string, value: string): Promise<Position> => {
    authorise(actor, 'root');
    checkOption(key, value);
    const { position } = await handle(optionDecider, streams.options, {
      type: 'ChangeOption',
      key,
      // An emptied secret is no secret: '' says that there is none.
      value: isSecretOption(key) && value !== '' ? { secret: await vault.put(value) } : { text: value },
    });
    return position;
  };

  return {
    /** Values are checked before they are stored: a bad one changes nothing. */
    change,

    /** Back to the value the option had before anybody changed it. */
    reset: (actor: Actor, key: OptionKey): Promise<Position> => change(actor, key, directory.initialOptionText(key)),

    /** Every option and its effective text, sorted by key; secrets are left out. */
    list(actor: Actor): readonly { key: string; value: string }[] {
      authorise(actor, 'root');
      return [...directory.optionTexts()]
        .filter(([key]) => !isSecretOption(key))
        .map(([key, value]) => ({ key, value }))
        .sort((a, b) => (a.key < b.key ? -1 : 1));
    },
  };
}
