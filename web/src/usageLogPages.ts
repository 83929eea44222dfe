import type { FieldPolicy, Reference, StoreObject } from '@apollo/client';

/*
 * The usage log in the cache: one list per filter, newest first, grown by pages. A page that was seen is shown again
 * without asking, whatever its size, and lines that arrive live are put before the first.
 */

interface Edge {
  readonly cursor: string;
  readonly node: Reference | StoreObject;
}

export interface UsageLogPages {
  readonly edges: readonly Edge[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly endCursor: string | null;
    readonly startCursor: string;
  };
}

const indexOf = (edges: readonly Edge[], cursor: string): number => edges.findIndex((edge) => edge.cursor === cursor);

/** Joins a page to what is known: after the line it follows, or, as the newest page, before what it reaches. */
export function joinPages(known: UsageLogPages | undefined, page: UsageLogPages, after: string | null): UsageLogPages {
  if (known === undefined) return page;
  if (after !== null) {
    const place = indexOf(known.edges, after);
    // A page from the middle, opened by its address: what lies between is not known, so it stands for itself.
    if (place < 0) return page;
    const edges = [...known.edges.slice(0, place + 1), ...page.edges];
    return { edges, pageInfo: { ...page.pageInfo, startCursor: known.pageInfo.startCursor } };
  }
  const last = page.edges.at(-1);
  const reached = last === undefined ? -1 : indexOf(known.edges, last.cursor);
  if (reached < 0) return page;
  const edges = [...page.edges, ...known.edges.slice(reached + 1)];
  const { hasNextPage, endCursor } = known.edges.length > reached + 1 ? known.pageInfo : page.pageInfo;
  return { edges, pageInfo: { hasNextPage, endCursor, startCursor: page.pageInfo.startCursor } };
}

/** A page of what is known; undefined: it has to be asked for. */
export function pageOf(known: UsageLogPages, after: string | null, size: number): UsageLogPages | undefined {
  const place = after === null ? -1 : indexOf(known.edges, after);
  if (after !== null && place < 0) {
    // It may be the page that begins what is known: opened by its address, nothing before it was ever read.
    return undefined;
  }
  const edges = known.edges.slice(place + 1, place + 1 + size);
  const more = known.edges.length > place + 1 + size;
  if (edges.length < size && known.pageInfo.hasNextPage) return undefined;
  return {
    edges,
    pageInfo: {
      hasNextPage: more || known.pageInfo.hasNextPage,
      endCursor: edges.at(-1)?.cursor ?? null,
      startCursor: edges[0]?.cursor ?? known.pageInfo.startCursor,
    },
  };
}

interface PageArguments {
  readonly after?: string | null;
  readonly first?: number;
}

const defaultSize = 20;

export const usageLogPages: FieldPolicy<UsageLogPages, UsageLogPages, UsageLogPages | undefined> = {
  keyArgs: ['filter', 'everyone'],
  merge: (known, page, { args }) => joinPages(known, page, (args as PageArguments | null)?.after ?? null),
  read: (known, { args }) => {
    const { after = null, first = defaultSize } = (args ?? {}) as PageArguments;
    return known === undefined ? undefined : pageOf(known, after, first);
  },
};
