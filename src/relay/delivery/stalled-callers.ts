import type { CallerConnection } from './caller-connection.js';

/*
 * Callers that stop reading. Whoever has taken nothing for so long is treated as gone, or its call would be held for
 * ever. One timer looks after all who are behind, and there is none while nobody is: hardly a call ever needs it.
 */

/** What is looked at of a caller. */
type BehindCaller = Pick<CallerConnection, 'requestId' | 'pending' | 'giveUp'>;

export interface StalledCallers {
  /** Looks after a caller that is behind, until it has taken everything or has gone. */
  watch(connection: BehindCaller): void;
}

interface StalledCallersOptions {
  readonly limitMs: number;
  /** Called for each that is given up, before that. */
  readonly gaveUp: (connection: BehindCaller) => void;
}

interface Behind {
  pending: number;
  since: number;
}

export function watchStalledCallers({ limitMs, gaveUp }: StalledCallersOptions): StalledCallers {
  const behind = new Map<BehindCaller, Behind>();
  let looking: NodeJS.Timeout | null = null;

  const look = (): void => {
    const now = performance.now();
    for (const [connection, seen] of behind) {
      const { pending } = connection;
      if (pending === 0) behind.delete(connection);
      else if (pending !== seen.pending) {
        seen.pending = pending;
        seen.since = now;
      } else if (now - seen.since >= limitMs) {
        behind.delete(connection);
        gaveUp(connection);
        connection.giveUp();
      }
    }
    if (behind.size > 0 || looking === null) return;
    clearInterval(looking);
    looking = null;
  };

  return {
    watch(connection) {
      if (!behind.has(connection)) behind.set(connection, { pending: connection.pending, since: performance.now() });
      looking ??= setInterval(look, Math.min(limitMs / 4, 5_000)).unref();
    },
  };
}
