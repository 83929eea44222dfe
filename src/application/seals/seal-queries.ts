import { Failure, invalidField } from '../../domain/kernel/failure.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { EventLines, LineByPosition, PublicSealKey, Seal, SealKeyStore, SealStore } from '../ports/seal-ports.js';
import type { Clock, Vault } from '../ports/storage-ports.js';
import { type Compared, compareHead, readHead } from './compare-head.js';
import { SealsReplaced, witnessedNewest } from './seal-witness.js';
import { publicPart, sealedExport } from './sealed-export.js';

/* The seals of the log, for people: to look at, to compare with a head that was noted, to take away. */

/** Where the log, its seals and their keys are read. */
export interface SealReading {
  readonly lines: EventLines;
  readonly single: LineByPosition;
  readonly seals: SealStore;
  readonly keys: Pick<SealKeyStore, 'all'>;
}

interface SealQueryPorts {
  readonly sealing: SealReading;
  readonly vault: Pick<Vault, 'get' | 'hash'>;
  readonly clock: Clock;
}

export interface SealHead {
  /** null: nothing has been sealed yet. */
  readonly seal: Seal | null;
  /** `replaced`: the stored seals are not those that the gateway has made, so it seals nothing more. */
  readonly witness: 'none' | 'same' | 'replaced';
  /** Of `replaced`, what differs. */
  readonly reason: string | null;
}

interface SealPage {
  readonly items: readonly Seal[];
  readonly hasMore: boolean;
}

/** A hundred thousand events at most, which take a second or so. */
const maxCompared = 100;

export function sealQueries({ sealing, vault, clock }: SealQueryPorts) {
  const { seals, keys } = sealing;
  let isComparing = false;

  const witness = async (): Promise<Pick<SealHead, 'witness' | 'reason'>> => {
    if ((await seals.witness()) === null) return { witness: 'none', reason: null };
    try {
      await witnessedNewest({ seals, keys, vault }, { newest: null });
      return { witness: 'same', reason: null };
    } catch (error) {
      if (error instanceof SealsReplaced) return { witness: 'replaced', reason: error.message };
      throw error;
    }
  };

  return {
    async sealHead(viewer: Actor): Promise<SealHead> {
      authorise(viewer, 'admin-reading');
      return { seal: await seals.newest(), ...(await witness()) };
    },

    /** Newest first, those before a number; null: from the newest. */
    async seals(viewer: Actor, { before, first }: { before: number | null; first: number }): Promise<SealPage> {
      authorise(viewer, 'admin-reading');
      const found = await seals.before(before ?? Number.MAX_SAFE_INTEGER, first + 1);
      return { items: found.slice(0, first), hasMore: found.length > first };
    },

    /** Oldest first. */
    async sealKeys(viewer: Actor): Promise<readonly PublicSealKey[]> {
      authorise(viewer, 'admin-reading');
      return (await keys.all()).map(publicPart);
    },

    /** One at a time: throws `too-many-attempts`. What it does not get to is for the command. Throws `invalid-field`. */
    async compareSealHead(viewer: Actor, text: string): Promise<Compared> {
      authorise(viewer, 'admin-reading');
      const head = readHead(text);
      if (head === null) throw invalidField('head', 'a head as it is shown, NUMBER:DIGEST');
      if (isComparing) throw new Failure('too-many-attempts');
      isComparing = true;
      try {
        return await compareHead(sealing, head, maxCompared);
      } finally {
        isComparing = false;
      }
    },

    /** The log with its seals, as the command exports it: who called what, and what it cost. */
    sealedLog(viewer: Actor): AsyncGenerator<readonly string[], void, undefined> {
      authorise(viewer, 'root-reading');
      return sealedExport({ ...sealing, vault, clock });
    },
  };
}
