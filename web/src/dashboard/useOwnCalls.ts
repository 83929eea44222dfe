import { useApolloClient, useSubscription } from '@apollo/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { type OwnLineFragment, OwnRecentUsageDocument, OwnUsageFeedDocument } from '../generated/dashboard/ownUsage.js';
import { withLines } from './ownCalls.js';
import { windowSeconds } from './trafficHistory.js';

/** Drawn together: a busy caller's lines arrive faster than anybody reads. */
const drawEveryMs = 250;

export interface OwnCalls {
  /** Newest first; null: not known yet. */
  readonly lines: readonly OwnLineFragment[] | null;
  /** Unix seconds from which on no line is missing. */
  readonly completeFrom: number;
  /** Unix seconds; moves on while nothing happens, so that charts do. */
  readonly now: number;
  readonly error: unknown;
  readonly look: () => void;
}

const present = (): number => Math.floor(Date.now() / 1_000);

/** One's own calls: those of the last quarter of an hour, then each as it is charged, without a gap between the two. */
export function useOwnCalls(): OwnCalls {
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
      const { data } = await client.query({
        query: OwnRecentUsageDocument,
        variables: { filter: { from } },
        fetchPolicy: 'no-cache',
      });
      if (data === undefined) throw new Error('the usage log was answered with nothing');
      const { edges, pageInfo } = data.usageLog;
      setLines(edges.map(({ node }) => node));
      const oldest = edges.at(-1)?.node.createdAt;
      setCompleteFrom(pageInfo.hasNextPage && oldest !== undefined ? oldest + 1 : 0);
      newest.current = pageInfo.startCursor;
      setStart(pageInfo.startCursor);
    } catch (failure) {
      setError(failure);
    }
  }, [client]);
  useEffect(() => void look(), [look]);

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

  return { lines, completeFrom, now, error: error ?? feedError, look: () => void look() };
}
