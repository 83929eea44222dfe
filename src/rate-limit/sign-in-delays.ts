import type { LRUCache } from 'lru-cache';
import { growingLru } from '../data-structures/growing-lru.js';
import { turns } from './guessing-turns.js';
import type { MillisecondClock } from './keyed-counts.js';
import { refuseEarly } from './recent-attempts.js';

/*
 * Failed attempts delay the next ones, without locking the owner out: a client network is delayed by its own failures,
 * and one from which nobody has signed in yet by those of all networks too (decision 16). In this process's memory; the
 * least recently used entries go first.
 */

/** Failures that cost no waiting: people mistype. */
const freeAtNetwork = 5;
const freeAtAccount = 20;
const freeTogether = 5;
const maxDelayMs = 15 * 60_000;
/** However much others guess meanwhile, a network waits no longer than this for its next try. */
const maxForOthersMs = 30 * 60_000;
/** Failures are forgotten once there has been none for so long. */
const memoryMs = 60 * 60_000;
const accountsKept = 10_000;
const networksKept = 50_000;
/** Networks an account has been signed in from. */
const knownNetworksKept = 16;
/** Owners are notified of one attack once in so long. */
const notifyAgainMs = 24 * 60 * 60_000;

/** The wait after the n-th failure beyond the free ones: a second, doubling. */
const delayAfter = (beyond: number): number => (beyond <= 0 ? 0 : Math.min(1000 * 2 ** (beyond - 1), maxDelayMs));

interface Failures {
  count: number;
  lastAt: number;
}

interface Account extends Failures {
  /** Oldest first. */
  readonly knownNetworks: Set<string>;
  notifiedAt: number | null;
}

export interface SignInDelays {
  /**
   * Counts an attempt as failed until it is said to have succeeded. Throws `too-many-attempts` where it has to wait;
   * one that is refused does not count.
   */
  begin(
    account: string,
    network: string,
  ): {
    succeeded(): void;
    /** Nothing was compared: there was no guess. */
    withdrawn(): void;
  };
}

interface DelayOptions {
  /**
   * What is guessed is short: networks where nobody has succeeded share what one may do. Otherwise the first try from a
   * new network is always taken.
   */
  readonly together?: boolean;
  /** Called with an account at which others have failed more often than costs no waiting, once a day at most. */
  readonly manyFailed?: (account: string) => void;
}

/** Of one attempt: which account, from which network, and what has failed there. */
interface Attempt {
  readonly name: string;
  readonly network: string;
  readonly account: Account;
  readonly here: Failures;
  readonly now: number;
}

export function signInDelays(clock: MillisecondClock, options: DelayOptions = {}): SignInDelays {
  const { together = false, manyFailed } = options;
  const manyAre = together ? freeTogether : freeAtAccount;
  const accounts = growingLru<string, Account>(accountsKept);
  const networks = growingLru<string, Failures>(networksKept);
  const queue = turns(accountsKept);

  /** When a network from which nobody has signed in may try once more. */
  const freeForUnknown = ({ name, account, here, network, now }: Attempt): number => {
    if (together) {
      return account.count < freeTogether ? 0 : queue.freeAt(name, network, now, account.lastAt);
    }
    if (here.count === 0) return 0;
    const afterOthers = account.lastAt + delayAfter(account.count - freeAtAccount);
    return Math.min(afterOthers, here.lastAt + maxForOthersMs);
  };

  const notifyIfMany = ({ name, account, now }: Attempt): void => {
    if (account.count < manyAre) return;
    const { notifiedAt } = account;
    if (notifiedAt !== null && notifiedAt <= now && now - notifiedAt < notifyAgainMs) return;
    account.notifiedAt = now;
    manyFailed?.(name);
  };

  return {
    begin(name, network) {
      const now = clock.now();
      const account = recent(accounts, name, () => ({
        count: 0,
        lastAt: now,
        knownNetworks: new Set<string>(),
        notifiedAt: null,
      }));
      const here = recent(networks, `${name}\n${network}`, () => ({ count: 0, lastAt: now }));
      for (const failures of [account, here]) {
        // A clock that was set back: what lies ahead was now.
        failures.lastAt = Math.min(failures.lastAt, now);
        if (now - failures.lastAt > memoryMs) failures.count = 0;
      }

      const attempt = { name, network, account, here, now };
      notifyIfMany(attempt);
      const isKnown = account.knownNetworks.has(network);
      const ownFreeAt = here.lastAt + delayAfter(here.count - freeAtNetwork);
      // Who has to wait anyway takes no turn from others.
      const freeAt = isKnown || now < ownFreeAt ? ownFreeAt : Math.max(ownFreeAt, freeForUnknown(attempt));
      refuseEarly(freeAt - now);

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
          account.knownNetworks.delete(network);
          account.knownNetworks.add(network);
          if (account.knownNetworks.size > knownNetworksKept) dropOldest(account.knownNetworks);
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

/** The entry, now the most recent one; made if there is none. */
function recent<Entry extends object>(entries: LRUCache<string, Entry>, key: string, make: () => Entry): Entry {
  const known = entries.get(key);
  if (known !== undefined) return known;
  const entry = make();
  entries.set(key, entry);
  return entry;
}

function dropOldest(entries: Set<string>): void {
  const [oldest] = entries;
  if (oldest !== undefined) entries.delete(oldest);
}
