import { useQuery } from '@apollo/client/react';
import { ChatKeyDocument, ChatTokensDocument } from '../generated/chat/chat.js';

export type ChatKey =
  | { readonly state: 'asking' }
  | { readonly state: 'failed'; readonly error: unknown; readonly retry: () => unknown }
  /** No token is enabled, or not the one that was chosen. */
  | { readonly state: 'none' }
  | { readonly state: 'known'; readonly key: string };

/** The key of one's own to chat with: of the chosen token, else of the first that is enabled. `skip`: none is wanted. */
export function useChatKey(chosen: string | null, skip: boolean): ChatKey {
  const list = useQuery(ChatTokensDocument, { skip: skip || chosen !== null, fetchPolicy: 'network-only' });
  const id = chosen ?? list.data?.apiKeys.items.find(({ status }) => status === 'ENABLED')?.id ?? null;
  const one = useQuery(ChatKeyDocument, {
    variables: { id: id ?? '' },
    skip: skip || id === null,
    fetchPolicy: 'network-only',
  });
  if (skip) return { state: 'known', key: '' };
  const { error, refetch, loading } = id === null ? list : one;
  if (error !== undefined && !loading) return { state: 'failed', error, retry: refetch };
  if (id === null) return list.data === undefined ? { state: 'asking' } : { state: 'none' };
  if (one.data === undefined) return { state: 'asking' };
  const { key, status } = one.data.apiKey;
  return key === null || status !== 'ENABLED' ? { state: 'none' } : { state: 'known', key };
}
