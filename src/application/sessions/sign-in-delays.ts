import { Failure } from '../../domain/failure.js';
import type { Clock } from '../ports.js';

/*
 * Guessing at one account gets slower with every failure, in a way that does not lock its owner out. What a place has
 * failed delays that place alone. What all places together have failed delays those of them that have failed here and
 * never succeeded: the owner's first try from anywhere is always taken, and a place it has signed in from goes by its own
 * failures only. So somebody with many addresses has one guess from each, and then waits with all of them.
 *
 * In this process's memory, which forgets the least recent first.
 */

/** Failures that cost no waiting: people mistype. */
const freeAtPlace = 5;
const freeAtAccount = 20;
const longestDelayMs = 15 * 60_000;
/** Failures are forgotten once there has been none for so long. */
const memoryMs = 60 * 60_000;
const accountsKept = 10_000;
const placesKept = 50_000;
/** Places an account has been signed in from. */
const knownPlacesKept = 16;

/** The wait after the n-th failure beyond the free ones: a second, doubling. */
const delayAfter = (beyond: number): number => (beyond <= 0 ? 0 : Math.min(1000 * 2 ** (beyond - 1), longestDelayMs));

interface Failures {
  count: number;
  lastAt: number;
}

interface Account extends Failures {
  /** Oldest first. */
  readonly knownPlaces: Set<string>;
}

export interface SignInDelays {
  /**
   * Counts an attempt as failed until it is said to have succeeded. Throws `too-many-attempts` where it has to wait;
   * one that is refused does not count.
   */
  begin(
    account: string,
    place: string,
  ): {
    succeeded(): void;
    /** Nothing was compared: there was no guess. */
    withdrawn(): void;
  };
}

export function signInDelays(clock: Clock): SignInDelays {
  const accounts = new Map<string, Account>();
  const places = new Map<string, Failures>();

  return {
    begin(name, place) {
      const now = clock.now();
      const account = recent(accounts, name, accountsKept, () => ({
        count: 0,
        lastAt: now,
        knownPlaces: new Set<string>(),
      }));
      const here = recent(places, `${name}\n${place}`, placesKept, () => ({ count: 0, lastAt: now }));
      for (const failures of [account, here]) if (now - failures.lastAt > memoryMs) failures.count = 0;

      const isKnown = account.knownPlaces.has(place);
      let freeAt = here.lastAt + delayAfter(here.count - freeAtPlace);
      if (!isKnown && here.count > 0)
        freeAt = Math.max(freeAt, account.lastAt + delayAfter(account.count - freeAtAccount));
      if (now < freeAt) throw new Failure('too-many-attempts', { seconds: Math.ceil((freeAt - now) / 1000) });

      const [lastHere, lastAtAccount] = [here.lastAt, account.lastAt];
      here.count += 1;
      here.lastAt = now;
      if (!isKnown) {
        account.count += 1;
        account.lastAt = now;
      }
      return {
        withdrawn() {
          takeBack(here, now, lastHere);
          if (!isKnown) takeBack(account, now, lastAtAccount);
        },
        succeeded() {
          here.count = 0;
          if (!isKnown) account.count = Math.max(0, account.count - 1);
          account.knownPlaces.delete(place);
          account.knownPlaces.add(place);
          if (account.knownPlaces.size > knownPlacesKept) dropOldest(account.knownPlaces);
        },
      };
    },
  };
}

/** As if it had not been, unless there has been another one since. */
function takeBack(failures: Failures, at: number, lastAt: number): void {
  failures.count = Math.max(0, failures.count - 1);
  if (failures.lastAt === at) failures.lastAt = lastAt;
}

/** The entry, now the most recent one; made if there is none, the least recent going where there are too many. */
function recent<Entry>(entries: Map<string, Entry>, key: string, kept: number, make: () => Entry): Entry {
  const entry = entries.get(key) ?? make();
  entries.delete(key);
  entries.set(key, entry);
  if (entries.size > kept) dropOldest(entries);
  return entry;
}

function dropOldest(entries: Map<string, unknown> | Set<string>): void {
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}
