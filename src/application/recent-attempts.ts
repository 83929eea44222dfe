import { Failure } from '../domain/kernel/failure.js';
import { Instant } from '../domain/kernel/instant.js';
import type { Clock } from './ports/storage-ports.js';

/** Who may try something how often; in this process's memory, which forgets whoever has tried least recently. */
export interface RecentAttempts<Id> {
  /** Throws `too-many-attempts`, with the seconds to wait; then it does not count. `withdrawn`: it shall not either. */
  count(id: Id): { withdrawn(): void };
}

interface Attempt {
  at: Instant;
}

const maxKnown = 10_000;

export function recentAttempts<Id extends string | number>(
  { most, withinMs }: { readonly most: number; readonly withinMs: number },
  clock: Clock,
): RecentAttempts<Id> {
  const attempts = new Map<Id, readonly Attempt[]>();

  return {
    count(id) {
      const now = clock.now();
      const known = attempts.get(id) ?? [];
      // A clock that was set back: what lies ahead was now.
      for (const attempt of known) attempt.at = Instant(Math.min(attempt.at, now));
      const recent = known.filter(({ at }) => now - at < withinMs);
      const [first] = recent;
      if (first !== undefined && recent.length >= most)
        throw new Failure('too-many-attempts', { seconds: Math.ceil((first.at + withinMs - now) / 1000) });
      const attempt: Attempt = { at: now };
      attempts.delete(id);
      attempts.set(id, [...recent, attempt]);
      const oldest = attempts.keys().next();
      if (attempts.size > maxKnown && oldest.done === false) attempts.delete(oldest.value);
      return {
        withdrawn() {
          const others = attempts.get(id)?.filter((other) => other !== attempt);
          if (others !== undefined) attempts.set(id, others);
        },
      };
    },
  };
}
