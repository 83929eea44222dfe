import { LRUCache } from 'lru-cache';

/**
 * A cache of the least recently used kind that takes memory as it fills: with `max`, lru-cache makes room for all entries
 * at once, which for a hundred thousand clients that may never come is megabytes.
 */
export const growingLru = <Key extends string | number, Value extends object | string | number>(
  entries: number,
  options: { readonly now?: () => number } = {},
): LRUCache<Key, Value> => {
  const { now } = options;
  return new LRUCache<Key, Value>({
    maxSize: entries,
    sizeCalculation: () => 1,
    ttlResolution: 0,
    ...(now !== undefined && { perf: { now } }),
  });
};
