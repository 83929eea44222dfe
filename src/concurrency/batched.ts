/**
 * Collects the keys asked for within one turn of the event loop and loads them together: a page of rows that each name
 * their user costs one query. Nothing is remembered beyond that turn.
 */
export function batched<Key, Value>(
  loadAll: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>,
): (key: Key) => Promise<Value | null> {
  let keys = new Set<Key>();
  let loading: Promise<ReadonlyMap<Key, Value>> | null = null;

  const next = (): Promise<ReadonlyMap<Key, Value>> =>
    new Promise((resolve, reject) => {
      setImmediate(() => {
        const wanted = [...keys];
        keys = new Set();
        loading = null;
        loadAll(wanted).then(resolve, reject);
      });
    });

  return async (key) => {
    keys.add(key);
    loading ??= next();
    return (await loading).get(key) ?? null;
  };
}
