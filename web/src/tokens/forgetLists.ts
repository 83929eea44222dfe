import type { ApolloCache } from '@apollo/client';

/** Lists of tokens are asked for anew: where a new one stands, and what moves up for a deleted one, the server knows. */
export function forgetLists(cache: ApolloCache): void {
  for (const fieldName of ['apiKeys', 'searchApiKeys', 'allApiKeys']) cache.evict({ id: 'ROOT_QUERY', fieldName });
  cache.gc();
}
