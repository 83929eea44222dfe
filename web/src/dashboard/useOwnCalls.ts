import type { ApolloClient } from '@apollo/client';
import { useApolloClient, useSubscription } from '@apollo/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import {
  type OwnLineFragment,
  OwnRecentUsageDocument,
  type OwnRecentUsageQuery,
  OwnUsageFeedDocument,
} from '../generated/dashboard/ownUsage.js';
import { withLines } from './ownCalls.js';
import { windowSeconds } from './trafficHistory.js';

/** Drawn together: a busy caller's lines arrive faster than anybody reads. */
const drawEveryMs = 250;
/** A thousand lines; a busier caller's charts begin later. */
const mostPages = 10;

interface OwnCalls {
  /** Newest first; null: not known yet. */
  readonly lines: readonly OwnLineFragment[] | null;
  /** Unix seconds from which on no line is missing. */
  readonly completeFrom: number;
  /** Unix seconds; moves on while nothing happens, so that charts do. */
  readonly now: number;
  /** Id of the newest line when one began to look; later ones arrived since. */
  readonly start: string | null;
  readonly error: unknown;
  readonly look: () => void;
}

async function page(client: ApolloClient, from: number, after: string | null): Promise<OwnRecentUsageQuery> {
  const variables = { filter: { from }, after };
  const { data } = await client.query({ query: OwnRecentUsageDocument, variables, fetchPolicy: 'no-cache' });
  if (data === undefined) throw new Error('the usage log was answered with nothing');
  return data;
}

const present = (): number => Math.floor(Date.now() / 1_000);

/**
 * One's own calls: those of the last quarter of an hour, then each as it is charged, without a gap between the two. None
 * until the log is whole.
 */
export function useOwnCalls(isWhole: boolean): OwnCalls {
  const client = useApolloClient();
  const [lines, setLines] = useState<readonly OwnLineFragment[] | null>(null);
  const [completeFrom, setCompleteFrom] = useState(0);
  const [start, setStart] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(undefined);
  const [now, setNow] = useState(present);
  const newest = useRef<string | null>(null);
  const waiting = useRef<OwnLineFragment[]>([]);

  const look = useCallback(async (): Promise<void> => {
    setError(undefined);
    try {
      const from = present() - windowSeconds;
      const found: OwnLineFragment[] = [];
      let after: string | null = null;
      let first: string | null = null;
      for (let pages = 0; pages < mostPages; pages++) {
        const { usageLog } = await page(client, from, after);
        first ??= usageLog.pageInfo.startCursor;
        found.push(...usageLog.edges.map(({ node }) => node));
        after = usageLog.pageInfo.hasNextPage ? (usageLog.pageInfo.endCursor ?? null) : null;
        if (after === null) break;
      }
      setLines(found);
      // The minute the last line known stands in is not known whole.
      setCompleteFrom(after === null ? 0 : (found.at(-1)?.createdAt ?? 0) + 1);
      newest.current = first;
      setStart(first);
    } catch (failure) {
      setError(failure);
    }
  }, [client]);
  useEffect(() => {
    if (isWhole) void look();
    else setStart(null);
  }, [look, isWhole]);

  const { error: feedError } = useSubscription(OwnUsageFeedDocument, {
    skip: start === null,
    variables: { after: start ?? '' },
    fetchPolicy: 'no-cache',
    ignoreResults: true,
    // After a lost connection it goes on where it was cut.
    context: { resumeWith: () => ({ after: newest.current ?? start }) },
    onData: ({ data: { data } }) => {
      if (data === undefined) return;
      newest.current = data.usageFeed.id;
      waiting.current.push(data.usageFeed);
    },
  });

  useEffect(() => {
    const draw = setInterval(() => {
      setNow(present);
      const arrived = waiting.current;
      if (arrived.length === 0) return;
      waiting.current = [];
      setLines((before) => withLines(before ?? [], arrived, present()));
    }, drawEveryMs);
    return () => clearInterval(draw);
  }, []);

  return { lines, completeFrom, now, start, error: error ?? feedError, look: () => void look() };
}
