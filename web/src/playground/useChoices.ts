import { useQuery } from '@apollo/client/react';
import {
  PlaygroundGroupsDocument,
  type PlaygroundGroupsQuery,
  PlaygroundModelsDocument,
} from '../generated/playground/playground.js';
import { useSignedIn } from '../kit/SessionProvider.js';

export interface Choices extends PlaygroundGroupsQuery {
  /** Those of the chosen group; just after another one is chosen, still those of the one before. */
  readonly models: readonly string[];
}

/** What there is to choose among for calls of a group; of one's own where nobody may use that one any more. */
export function useChoices(chosen: string) {
  const { group: own } = useSignedIn();
  const groups = useQuery(PlaygroundGroupsDocument, { fetchPolicy: 'cache-and-network' });
  const ownGroups = groups.data?.ownGroups;
  const isUsable = (group: string): boolean => ownGroups?.some(({ name }) => name === group) ?? false;
  // A group that is retired has models of its own no more: then those of any group are offered.
  const group = [chosen, own].find(isUsable) ?? null;
  const models = useQuery(PlaygroundModelsDocument, {
    variables: { group },
    fetchPolicy: 'cache-and-network',
    skip: ownGroups === undefined,
  });
  const known = (models.data ?? models.previousData)?.ownModels;
  return {
    choices: ownGroups === undefined || known === undefined ? undefined : { ownGroups, models: known },
    loading: groups.loading || models.loading,
    error: groups.error ?? models.error,
    refetch: () => (groups.error === undefined ? models.refetch() : groups.refetch()),
  };
}
