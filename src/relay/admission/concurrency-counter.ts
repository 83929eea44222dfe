import { CompactingMap } from '../../data-structures/compacting-map.js';

/** Counts the calls under way of whatever has an id and a limit: API keys, channels. */
interface ConcurrencyCounter {
  /** False: there are `max` already; 0 is no limit. Who entered leaves once. */
  enter(id: number, max: number): boolean;
  leave(id: number): void;
}

export function concurrencyCounter(): ConcurrencyCounter {
  const counts = new CompactingMap<number, number>();
  return {
    enter(id, max) {
      const count = counts.get(id) ?? 0;
      if (max > 0 && count >= max) return false;
      counts.set(id, count + 1);
      return true;
    },
    leave(id) {
      const count = counts.get(id) ?? 0;
      if (count > 1) counts.set(id, count - 1);
      else counts.delete(id);
    },
  };
}
