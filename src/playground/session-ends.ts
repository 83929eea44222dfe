import type { Application } from '../application/application.js';
import { streams } from '../domain/events/events.js';
import type { UserId } from '../domain/kernel/ids.js';

/* The end of a session while a call is under way that it was shown for. */

export interface SessionEnds {
  readonly identity: Pick<Application['identity'], 'bySession' | 'sessionOf' | 'onEnd'>;
  readonly tail: Pick<Application['tail'], 'add'>;
}

/** Sessions also end by their age, which nobody is informed of. */
const lookMs = 15_000;

/** Calls once when the session that has been looked up has ended since, or ends. The result stops watching. */
export function whenSessionEnds({ identity, tail }: SessionEnds, token: string, user: UserId, onEnd: () => void) {
  const session = identity.sessionOf(token);
  const about: ReadonlySet<string> = new Set([streams.user(user), streams.factors(user)]);

  const stop = (): void => {
    leaveEnds();
    leaveTail();
    clearInterval(looking);
  };
  const end = (): void => {
    stop();
    onEnd();
  };
  const look = (): void => {
    identity.bySession(token).then(
      (found) => {
        if (found === null) end();
      },
      // A database that does not answer is no reason to turn anybody away.
      () => undefined,
    );
  };
  const leaveEnds = identity.onEnd((ended) => {
    if (ended === session) end();
  });
  // What somebody's account has gone through may have ended it: disabled, deleted, signed out everywhere.
  const leaveTail = tail.add({
    take(batch) {
      if (batch.some(({ stream }) => about.has(stream))) look();
    },
  });
  const looking = setInterval(look, lookMs).unref();
  // It may have ended before anybody watched.
  look();
  return stop;
}
