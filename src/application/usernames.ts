import { streams } from '../domain/events.js';
import { Failure } from '../domain/failure.js';
import type { UserId } from '../domain/ids.js';
import { usernameDecider } from '../domain/user.js';
import type { Handle } from './handle.js';
import type { Clock, EventStore } from './ports.js';

/* Unique user names: claimed in a stream of their own before the user gets them. */

/** A claim whose user never came to be is given up after this long: its registration died half-way. */
const abandonedAfterMs = 60_000;

export function usernames(store: EventStore, clock: Clock, handle: Handle) {
  const claimAbandoned = async (name: string): Promise<boolean> => {
    const claim = (await store.readStream(streams.username(name))).at(-1);
    if (claim === undefined || claim.event.type !== 'UsernameClaimed') return true;
    if (clock.now() - claim.at < abandonedAfterMs) return false;
    const holder = claim.event.userId;
    if ((await store.readStream(streams.user(holder))).length > 0) return false;
    await handle(usernameDecider, streams.username(name), { type: 'ReleaseUsername', userId: holder });
    return true;
  };

  return {
    /** Throws `username-taken`. */
    async claim(name: string, userId: UserId): Promise<void> {
      const claim = () => handle(usernameDecider, streams.username(name), { type: 'ClaimUsername', userId });
      try {
        await claim();
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== 'username-taken' || !(await claimAbandoned(name)))
          throw error;
        await claim();
      }
    },
    async release(name: string, userId: UserId): Promise<void> {
      await handle(usernameDecider, streams.username(name), { type: 'ReleaseUsername', userId });
    },
  };
}
