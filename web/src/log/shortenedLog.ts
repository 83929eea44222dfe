import type { InMemoryCache } from '@apollo/client';
import type { Stretch } from '../usageLogPages.js';

/** Lines kept of each list: twice the largest page. */
const maxLines = 200;

/** What is left of a list; the lines beyond are there for the asking. */
function shortened(stretch: Stretch): Stretch {
  if (stretch.edges.length <= maxLines) return stretch;
  const edges = stretch.edges.slice(0, maxLines);
  const endCursor = edges.at(-1)?.cursor ?? null;
  return { ...stretch, edges, pageInfo: { ...stretch.pageInfo, hasNextPage: true, endCursor } };
}

/** A page that is left open must not remember every line of the night. */
export function shortenLog(cache: InMemoryCache): void {
  cache.modify<{ usageLog: readonly Stretch[] }>({
    fields: { usageLog: (stretches) => (stretches as readonly Stretch[]).map(shortened) },
  });
  cache.gc();
  // Collecting leaves what was worked out of lines that are gone, some ten thousand results of it, and for each line a
  // place for what its merged fields might note. Only a store that begins anew has neither.
  cache.restore(cache.extract());
}
