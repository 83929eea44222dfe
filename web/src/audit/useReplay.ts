import { useApolloClient } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import type { AuditedInput } from '../generated/audit/audit.js';
import { ReplayMovementsDocument, type ReplayMovementsQuery } from '../generated/audit/replay.js';

export type ReplayMovement = ReplayMovementsQuery['quotaHistory']['items'][number];

/** What is held at once, and drawn. */
const maxHeld = 2_000;
const perPage = 100;

export interface Replay {
  readonly movements: readonly ReplayMovement[];
  readonly isLoading: boolean;
  readonly error: unknown;
  /** There is more behind the last one than is held. */
  readonly hasMore: boolean;
}

/** Where a window of movements begins. */
export interface ReplayStart {
  /** Unix seconds; null: with the first movement there is. */
  readonly from: number | null;
  /** Behind this movement; null: with the first of them. */
  readonly after: Pick<ReplayMovement, 'position' | 'part'> | null;
}

const nothing: Replay = { movements: [], isLoading: true, error: undefined, hasMore: false };

/** The movements of an account from a place on, oldest first, read page by page up to so many as can be held. */
export function useReplay(
  { kind, id }: AuditedInput,
  { from, after }: ReplayStart,
): Replay & { readonly retry: () => void } {
  const client = useApolloClient();
  const [replay, setReplay] = useState<Replay>(nothing);
  const [attempt, setAttempt] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt reads anew
  useEffect(() => {
    let isLeft = false;
    const show = (shown: Replay): void => {
      if (!isLeft) setReplay(shown);
    };
    const read = async (): Promise<void> => {
      const movements: ReplayMovement[] = [];
      for (let last = after; !isLeft; ) {
        const { data } = await client.query({
          query: ReplayMovementsDocument,
          variables: {
            of: { kind, id },
            from,
            after: last && { position: last.position, part: last.part },
            first: perPage,
          },
          fetchPolicy: 'no-cache',
        });
        const { items = [], hasMore = false } = data?.quotaHistory ?? {};
        movements.push(...items);
        const isLoading = hasMore && movements.length < maxHeld;
        show({ movements: [...movements], isLoading, error: undefined, hasMore });
        last = movements.at(-1) ?? null;
        if (!isLoading) return;
      }
    };
    show(nothing);
    read().catch((error: unknown) => show({ ...nothing, isLoading: false, error }));
    return () => {
      isLeft = true;
    };
  }, [client, kind, id, from, after, attempt]);

  return { ...replay, retry: () => setAttempt((before) => before + 1) };
}
