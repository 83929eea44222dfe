import { Failure } from '../../domain/kernel/failure.js';
import type { Clock } from '../ports/storage-ports.js';

/*
 * Rate limits of mails, per address and per client network, so that nobody floods a mailbox or the mail server. Addresses
 * of users and of strangers count alike. In this process's memory; the least recently used entries go first.
 */

const pauseMs = 30_000;
const hourMs = 60 * 60_000;
const maxToAddress = 6;
/** A school or an office is one client. */
const maxForClient = 30;
const kept = 10_000;

/** When mails were asked for within the last hour, oldest first. */
type Times = Map<string, readonly number[]>;

function recent(times: Times, name: string, now: number): readonly number[] {
  // A clock that was set back: what lies ahead was now.
  const known = (times.get(name) ?? []).map((at) => Math.min(at, now)).filter((at) => at > now - hourMs);
  times.delete(name);
  times.set(name, known);
  const oldest = times.keys().next();
  if (times.size > kept && oldest.done === false) times.delete(oldest.value);
  return known;
}

/** When there may be one more. */
const freeAt = (times: readonly number[], most: number): number => {
  const decisive = times.at(-most);
  return decisive === undefined ? 0 : decisive + hourMs;
};

export interface MailLimits {
  /**
   * Counts a mail to `address`, which may be a hash of it, for the client network `place`. Throws `too-many-attempts`;
   * what is refused does not count. `withdrawn`: it could not be sent, so its owner may ask again at once.
   */
  begin(address: string, place: string): { withdrawn(): void };
}

export function mailLimits(clock: Clock): MailLimits {
  const addresses: Times = new Map();
  const places: Times = new Map();

  return {
    begin(address, place) {
      const now = clock.now();
      const [here, there] = [recent(addresses, address, now), recent(places, place, now)];
      const last = here.at(-1);
      const free = Math.max(
        last === undefined ? 0 : last + pauseMs,
        freeAt(here, maxToAddress),
        freeAt(there, maxForClient),
      );
      if (now < free) throw new Failure('too-many-attempts', { seconds: Math.ceil((free - now) / 1000) });
      addresses.set(address, [...here, now]);
      places.set(place, [...there, now]);
      return {
        withdrawn: () =>
          addresses.set(
            address,
            (addresses.get(address) ?? []).filter((at) => at !== now),
          ),
      };
    },
  };
}
