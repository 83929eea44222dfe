import type { CallerPresence } from './caller-presence.js';

/*
 * Callers that stop reading. Whoever has taken nothing for so long is treated as gone, or its call would be held for
 * ever. One timer looks after all who are behind, and there is none while nobody is: hardly a call ever needs it.
 */

export interface StalledCallers {
  /** Looks after a caller that is behind, until it has taken everything or has gone. */
  watch(presence: CallerPresence): void;
}

interface StalledCallersOptions {
  readonly limitMs: number;
  /** Told about each that is given up, before that. */
  readonly gaveUp: (presence: CallerPresence) => void;
}

interface Behind {
  pending: number;
  since: number;
}

export function watchStalledCallers({ limitMs, gaveUp }: StalledCallersOptions): StalledCallers {
  const behind = new Map<CallerPresence, Behind>();
  let looking: NodeJS.Timeout | null = null;

  const look = (): void => {
    const now = performance.now();
    for (const [presence, seen] of behind) {
      const { pending } = presence;
      if (pending === 0) behind.delete(presence);
      else if (pending !== seen.pending) {
        seen.pending = pending;
        seen.since = now;
      } else if (now - seen.since >= limitMs) {
        behind.delete(presence);
        gaveUp(presence);
        presence.giveUp();
      }
    }
    if (behind.size > 0 || looking === null) return;
    clearInterval(looking);
    looking = null;
  };

  return {
    watch(presence) {
      if (!behind.has(presence)) behind.set(presence, { pending: presence.pending, since: performance.now() });
      looking ??= setInterval(look, Math.min(limitMs / 4, 5_000)).unref();
    },
  };
}
