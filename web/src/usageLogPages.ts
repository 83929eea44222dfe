import type { FieldPolicy, Reference, StoreObject } from '@apollo/client';

/*
 * The usage log in the cache: per filter a list, newest first, grown by pages. A page that was seen is shown again
 * without asking, whatever its size, and lines that arrive live are put before the first. A page opened by its address
 * begins a stretch of its own, since nobody knows what lies between.
 */

interface Edge {
  readonly cursor: string;
  readonly node: Reference | StoreObject;
}

interface LogPage {
  readonly edges: readonly Edge[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly endCursor: string | null;
    readonly startCursor: string;
  };
}

/** Consecutive lines. `head`: the cursor they follow; null: none, they begin with the newest. */
export interface Stretch extends LogPage {
  readonly head: string | null;
}

const indexOf = ({ edges }: LogPage, cursor: string | null): number =>
  edges.findIndex((edge) => edge.cursor === cursor);

const holds =
  (after: string | null) =>
  (stretch: Stretch): boolean =>
    stretch.head === after || indexOf(stretch, after) >= 0;

function joinPage(known: readonly Stretch[], page: LogPage, after: string | null): readonly Stretch[] {
  const stretch = known.find(holds(after));
  if (stretch === undefined) return [...known, { head: after, ...page }];
  const before = stretch.edges.slice(0, indexOf(stretch, after) + 1);
  // What was known behind the page stays, if the page reaches it.
  const last = page.edges.at(-1)?.cursor ?? null;
  const reached = last === null ? -1 : indexOf(stretch, last);
  const rest = reached < 0 ? [] : stretch.edges.slice(reached + 1);
  const { hasNextPage, endCursor } = rest.length > 0 ? stretch.pageInfo : page.pageInfo;
  const { startCursor } = before.length > 0 ? stretch.pageInfo : page.pageInfo;
  const joined: Stretch = {
    head: stretch.head,
    edges: [...before, ...page.edges, ...rest],
    pageInfo: { hasNextPage, endCursor, startCursor },
  };
  return known.map((other) => (other === stretch ? joined : other));
}

/** A page of what is known; undefined: it has to be asked for. */
function pageAfter(known: readonly Stretch[], after: string | null, size: number): LogPage | undefined {
  const stretch = known.find(holds(after));
  if (stretch === undefined) return undefined;
  const start = indexOf(stretch, after) + 1;
  const edges = stretch.edges.slice(start, start + size);
  const { hasNextPage, startCursor } = stretch.pageInfo;
  if (edges.length < size && hasNextPage) return undefined;
  return {
    edges,
    pageInfo: {
      hasNextPage: stretch.edges.length > start + size || hasNextPage,
      endCursor: edges.at(-1)?.cursor ?? null,
      startCursor: edges[0]?.cursor ?? startCursor,
    },
  };
}

interface PageArguments {
  readonly after?: string | null;
  readonly first?: number;
}

/** The schema's own default. */
const defaultSize = 20;

export const usageLogPages: FieldPolicy<readonly Stretch[], LogPage, LogPage | undefined> = {
  keyArgs: ['filter', 'everyone'],
  merge: (known = [], page, { args }) => joinPage(known, page, (args as PageArguments | null)?.after ?? null),
  read(known = [], { args }) {
    const { after = null, first = defaultSize } = (args ?? {}) as PageArguments;
    return pageAfter(known, after, first);
  },
};
