import { growingLru } from '../../data-structures/growing-lru.js';
import type { Revision, StreamName } from '../../domain/events/events.js';
import { secretReferences, withSecretsOf } from '../../domain/events/secret-references.js';
import type { SecretId } from '../../domain/kernel/ids.js';
import type { EventStore, Vault } from '../ports/storage-ports.js';
import type { Reaction } from './run-reactions.js';

interface DropSecretsPorts {
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly vault: Pick<Vault, 'drop'>;
}

/** How a stream stood when its replaced secrets had been dropped. */
interface Known {
  readonly revision: Revision;
  readonly named: ReadonlyMap<string, SecretId>;
}

/** Streams whose earlier events need not be read again. */
const maxKnown = 1_000;

/**
 * What a stream names no more leaves the vault: a key or proxy that was replaced, the password of a user who is gone.
 * What it names now stays, whatever led here; so does what it has never named, which may be about to be.
 */
export function dropSecrets({ store, vault }: DropSecretsPorts): Reaction {
  const known = growingLru<StreamName, Known>(maxKnown);

  return {
    name: 'drop-secrets',

    // The first event of a stream finds nothing to replace.
    asks: ({ stream, revision, event }) => (revision > 0 && secretReferences(event) !== null ? stream : null),

    async react(stream) {
      let { revision, named }: Known = known.get(stream) ?? { revision: -1, named: new Map() };
      const once = new Set(named.values());
      for await (const page of store.streamPages(stream, revision))
        for (const recorded of page) {
          named = withSecretsOf(named, recorded.event);
          for (const secret of named.values()) once.add(secret);
          revision = recorded.revision;
        }
      for (const secret of named.values()) once.delete(secret);
      if (once.size > 0) await vault.drop([...once]);
      known.set(stream, { revision, named });
    },
  };
}
