import { gql, type InMemoryCache } from '@apollo/client';
import { consoleCache } from '../../web/src/consoleCache.js';

/* The usage log as the console's cache holds it, written and read as its queries do. */

interface LogPage {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly endCursor: string | null;
    readonly startCursor: string;
  };
}

const query = gql`
  query Log($filter: UsageLogFilterInput!, $first: Int!, $after: ID) {
    usageLog(filter: $filter, everyone: false, first: $first, after: $after) {
      edges {
        cursor
        node {
          id
        }
      }
      pageInfo {
        hasNextPage
        endCursor
        startCursor
      }
    }
  }
`;

interface Written {
  readonly hasNextPage: boolean;
  /** The line the page follows; left out: none. */
  readonly after?: string;
  /** The filter it was asked with; left out: none. */
  readonly model?: string;
}

interface LogCache {
  readonly cache: InMemoryCache;
  /** A page of lines by their ids, newest first. */
  readonly write: (ids: readonly number[], written: Written) => void;
  /** undefined: it has to be asked for. */
  readonly page: (after: string | null, first: number, model?: string) => LogPage | undefined;
  readonly ids: (after: string | null, first: number, model?: string) => number[] | undefined;
}

export function logCache(): LogCache {
  const cache = consoleCache();
  const filter = (model: string | undefined) => (model === undefined ? {} : { model });
  const page: LogCache['page'] = (after, first, model) =>
    cache.readQuery<{ usageLog: LogPage }>({ query, variables: { filter: filter(model), first, after } })?.usageLog;
  return {
    cache,
    write(ids, { hasNextPage, after = null, model }: Omit<Written, 'after'> & { readonly after?: string | null }) {
      const edges = ids.map((id) => ({ cursor: String(id), node: { __typename: 'UsageLogLine', id: String(id) } }));
      const pageInfo = { hasNextPage, endCursor: edges.at(-1)?.cursor ?? null, startCursor: edges[0]?.cursor ?? '0' };
      const variables = { filter: filter(model), first: ids.length, after };
      cache.writeQuery({ query, variables, data: { usageLog: { edges, pageInfo } } });
    },
    page,
    ids: (after, first, model) => page(after, first, model)?.edges.map(({ cursor }) => Number(cursor)),
  };
}
