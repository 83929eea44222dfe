import { type Position, streams } from '../../domain/events/events.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { hasBuiltInPrices, isLegacyPriceMap, legacyPriceMaps } from '../../domain/options/legacy-prices.js';
import { optionDecider } from '../../domain/options/option.js';
import { fixedBecause, isSecretOption, type OptionKey, optionTable } from '../../domain/options/option-table.js';
import { checkOption } from '../../domain/options/option-values.js';
import type { BuiltInMap } from '../../domain/options/pinned-entries.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { Clock, Vault } from '../ports/storage-ports.js';

interface OptionCommandPorts {
  readonly handle: Handle;
  readonly vault: Vault;
  readonly directory: NodeDirectory;
  readonly clock: Clock;
}

/** An option as it is now. */
export interface OptionView {
  readonly key: string;
  /** The text in force; null: a secret. */
  readonly value: string | null;
  /** A secret that has been given; of other options, whether there is any text. */
  readonly isSet: boolean;
  /** What it holds as long as nobody changes it. */
  readonly initial: string;
  /** Of the last change of what it shows, or a later one; `beginning`: it was never changed. */
  readonly position: Position;
}

/** When a map of prices was read, after which change of what it shows, and what was built in then. */
export interface MapReading {
  readonly position: Position;
  readonly at: Instant;
  readonly builtIn: string;
}

function optionView(directory: NodeDirectory, key: string): OptionView {
  const changed = directory.changedOptions().get(key);
  const isSecret = changed !== undefined && !('text' in changed.value) && fixedBecause(key) === null;
  const text = isSecret ? null : directory.optionText(key);
  return {
    key,
    value: isSecretOption(key) ? null : (text ?? ''),
    isSet: text !== '',
    initial: directory.initialOptionText(key),
    position: directory.optionPosition(key),
  };
}

/** What whoever gives the order has seen. */
interface Seen {
  readonly seenAt: Position | null;
  readonly readAt?: Instant;
  readonly builtIn?: string;
  readonly isReset?: true;
}

const builtInMap = (now: string, seen = now): BuiltInMap => ({ now, seen });

export function optionCommands({ handle, vault, directory, clock }: OptionCommandPorts) {
  const give = async (
    actor: Actor,
    key: string,
    value: string,
    { builtIn: builtInSeen, ...seen }: Seen,
  ): Promise<Position> => {
    authorise(actor, 'root');
    checkOption(key, value);
    const { position } = await handle.by(actor)(optionDecider, streams.options, {
      type: 'ChangeOption',
      key,
      // An emptied secret is no secret: '' says that there is none.
      value: isSecretOption(key) && value !== '' ? { secret: await vault.put(value) } : { text: value },
      by: actor.id,
      ...seen,
      ...(isLegacyPriceMap(key) ? { at: clock.now() } : {}),
      ...(hasBuiltInPrices(key) ? { builtIn: builtInMap(directory.initialOptionText(key), builtInSeen) } : {}),
    });
    return position;
  };

  const change = (actor: Actor, key: string, value: string, seenAt: Position | null = null): Promise<Position> =>
    give(actor, key, value, { seenAt });

  return {
    /**
     * Values are checked before they are stored: a bad one changes nothing. Throws `option-fixed` for one that stays as
     * it is. `seenAt`: the position of the change that
     * the actor has seen last; with it, throws `option-changed` when somebody else has changed the option since.
     */
    change,

    /** Of a client that writes a whole map of prices back: refused like the above also where a period has begun since. */
    changeAsRead: (
      actor: Actor,
      key: string,
      value: string,
      { position, at, builtIn }: MapReading,
    ): Promise<Position> => give(actor, key, value, { seenAt: position, readAt: at, builtIn }),

    /** What a client will know that reads the maps of prices now. */
    readMaps(actor: Actor): ReadonlyMap<string, MapReading> {
      authorise(actor, 'root');
      const at = clock.now();
      return new Map(
        legacyPriceMaps.map((key) => [
          key,
          { position: directory.optionPosition(key), at, builtIn: directory.initialOptionText(key) },
        ]),
      );
    },

    /** Back to the value the option had before anybody changed it. */
    reset: (actor: Actor, key: OptionKey): Promise<Position> =>
      give(actor, key, directory.initialOptionText(key), { seenAt: null, isReset: true }),

    /** Every option and its effective text, sorted by key; secrets are left out. */
    list(actor: Actor): readonly { key: string; value: string }[] {
      authorise(actor, 'root-reading');
      return [...directory.optionTexts()]
        .filter(([key]) => !isSecretOption(key))
        .map(([key, value]) => ({ key, value }))
        .sort((a, b) => (a.key < b.key ? -1 : 1));
    },

    /** Every option there is, secrets too, as far as they may be disclosed; sorted by key. */
    views(actor: Actor): readonly OptionView[] {
      authorise(actor, 'root-reading');
      const keys = new Set([...Object.keys(optionTable), ...directory.changedOptions().keys()]);
      return [...keys].sort().map((key) => optionView(directory, key));
    },

    view(actor: Actor, key: string): OptionView {
      authorise(actor, 'root');
      return optionView(directory, key);
    },
  };
}
