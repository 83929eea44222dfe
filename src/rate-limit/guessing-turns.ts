import { growingLru } from '../data-structures/growing-lru.js';

/*
 * Guesses at an account are queued, for all client networks from which nobody has signed in: a refused one gets when
 * its turn is, and that turn is nobody else's. A larger network has one turn at a time, so that it cannot fill the queue.
 */

const betweenMs = 2 * 60_000;
/** For how long a turn stays whoever's it is. */
const keptMs = 2 * 60_000;
const maxWaiting = 15;

interface Turn {
  readonly network: string;
  at: number;
}

/** The first 16 bits of an IPv4 network, the first 32 of an IPv6 one; other text is a network by itself. */
function wideNetworkOf(network: string): string {
  const separator = network.includes(':') ? ':' : '.';
  return network.split(separator, 2).join(separator);
}

interface GuessingTurns {
  /** When `network` may guess next; not after `now`: at once, and its turn is over. `lastAt`: of the last guess. */
  freeAt(account: string, network: string, now: number, lastAt: number): number;
}

/** `kept`: accounts whose turns are remembered. */
export function turns(kept: number): GuessingTurns {
  const queues = growingLru<string, Turn[]>(kept);

  return {
    freeAt(account, network, now, lastAt) {
      const latest = now + (maxWaiting + 1) * betweenMs;
      const queue = (queues.get(account) ?? []).filter(({ at }) => at + keptMs >= now);
      // A clock that was set back makes nobody wait for it to come round again.
      for (const turn of queue) turn.at = Math.min(turn.at, latest);
      queues.set(account, queue);

      const wide = wideNetworkOf(network);
      const own = queue.find((turn) => turn.network === wide);
      if (own !== undefined) {
        if (own.at <= now) queue.splice(queue.indexOf(own), 1);
        return own.at;
      }
      const last = queue.reduce((at, turn) => Math.max(at, turn.at), lastAt);
      const next = last + betweenMs;
      if (next <= now || queue.length >= maxWaiting) return next;
      queue.push({ network: wide, at: next });
      return next;
    },
  };
}
