/*
 * One order over many streams. Their appends share the round trips of the log when they are asked for together; and no
 * more of them are, than leave connections to everybody else.
 */

const atOnce = 4;

/**
 * The results in the order of the items. After a failure nothing more is begun, and what was begun is waited for: when
 * this throws the first failure, nothing goes on behind it.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length);
  const queue = items.entries();
  let failure: { readonly reason: unknown } | null = null;
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) {
      try {
        results[index] = await run(item);
      } catch (reason) {
        failure ??= { reason };
      }
      if (failure !== null) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  const failed = failure as { readonly reason: unknown } | null;
  if (failed !== null) throw failed.reason;
  return results;
}
