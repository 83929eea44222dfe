import { streams } from '../../domain/events.js';
import { Failure } from '../../domain/failure.js';
import type { UserId } from '../../domain/ids.js';
import { lookOf } from '../../domain/look-alike.js';
import { type UserEvent, userDecider, usernameDecider } from '../../domain/user.js';
import type { Clock, EventStore } from '../ports.js';
import type { Handle } from './handle.js';

/* Unique user names: claimed in a stream of their own before the user gets them. */

/** A claim its user does not use is given up after this long: the registration or the renaming died half-way. */
const abandonedAfterMs = 60_000;

export function usernames(store: Pick<EventStore, 'readStream'>, clock: Clock, handle: Handle) {
  /** From the log, which no read model or memory is ahead of. null: no such user. */
  const nameOf = async (userId: UserId): Promise<string | null> => {
    const recorded = await store.readStream(streams.user(userId));
    const user = recorded.reduce(
      (folded, { event }) => userDecider.evolve(folded, event as UserEvent),
      userDecider.initial,
    );
    return user.status === 'absent' ? null : user.username;
  };

  /** A name is claimed as it is written and, where that is another, as it looks: nobody else's may look like it. */
  const claimsOf = (name: string): readonly string[] => {
    const [written, look] = [name.toLowerCase(), lookOf(name)];
    return written === look ? [written] : [written, look];
  };

  const bears = async (userId: UserId, claimed: string): Promise<boolean> => {
    const name = await nameOf(userId);
    return name !== null && claimsOf(name).includes(claimed.toLowerCase());
  };

  const claimAbandoned = async (name: string): Promise<boolean> => {
    const claim = (await store.readStream(streams.username(name))).at(-1);
    if (claim === undefined || claim.event.type !== 'UsernameClaimed') return true;
    if (clock.now() - claim.at < abandonedAfterMs) return false;
    const holder = claim.event.userId;
    if (await bears(holder, name)) return false;
    await handle(usernameDecider, streams.username(name), { type: 'ReleaseUsername', userId: holder });
    return true;
  };

  const claimOne = async (name: string, userId: UserId): Promise<void> => {
    const claim = () => handle(usernameDecider, streams.username(name), { type: 'ClaimUsername', userId });
    try {
      await claim();
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'username-taken' || !(await claimAbandoned(name))) throw error;
      await claim();
    }
  };

  /** Gives a name back, unless the user bears it: a renaming that seemed to fail may have happened. */
  const release = async (name: string, userId: UserId): Promise<void> => {
    for (const claimed of claimsOf(name))
      if (!(await bears(userId, claimed)))
        await handle(usernameDecider, streams.username(claimed), { type: 'ReleaseUsername', userId });
  };

  return {
    nameOf,

    /** Throws `username-taken`. What was claimed of a name that looks like somebody else's is given back. */
    async claim(name: string, userId: UserId): Promise<void> {
      try {
        for (const claimed of claimsOf(name)) await claimOne(claimed, userId);
      } catch (error) {
        await release(name, userId).catch(() => {});
        throw error;
      }
    },

    release,
  };
}
