import type { ApolloClient } from '@apollo/client';

/** The fields of the schema that lists come from, by what they list. */
const lists = {
  apiKeys: ['apiKeys', 'searchApiKeys', 'allApiKeys'],
  channels: ['channels', 'channelsByTag'],
  redemptions: ['redemptionCodes'],
  log: ['usageLog', 'logStatistics'],
  users: ['users'],
} as const;

/**
 * Asks anew for the lists in sight, for when something comes or goes: where it stands and what moves up for it, the
 * server knows. Lists out of sight are asked for when they are looked at; what only changes is updated in place, without.
 */
export const renewLists = (client: ApolloClient, of: keyof typeof lists): Promise<unknown> =>
  client
    .refetchQueries({
      updateCache(cache) {
        for (const fieldName of lists[of]) cache.evict({ id: 'ROOT_QUERY', fieldName });
      },
    })
    // A list that cannot be had says so where it stands.
    .catch(() => undefined);
