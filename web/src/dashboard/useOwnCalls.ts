import { useApolloClient, useQuery, useSubscription } from '@apollo/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { LastMinutesDocument } from '../generated/dashboard/history.js';
import { type OwnLineFragment, OwnRecentUsageDocument, OwnUsageFeedDocument } from '../generated/dashboard/ownUsage.js';
import { linesShown, withLines } from './ownCalls.js';
import { lastHour, type Piece } from './trafficHistory.js';

/** Drawn together: a busy caller's lines arrive faster than anybody reads. */
const drawEveryMs = 250;
/** As often as the minutes are asked for again while lines arrive. */
const countEveryMs = 2_000;

interface OwnCalls {
  /** Newest first; null: not known yet. */
  readonly lines: readonly OwnLineFragment[] | null;
  /** The last hour, as the server counts it. */
  readonly minutes: readonly Piece[];
  /** Id of the newest line when one began to look; later ones arrived since. */
  readonly start: string | null;
  readonly error: unknown;
  readonly look: () => void;
}

const present = (): number => Math.floor(Date.now() / 1_000);

/** One's own newest calls, then each as it is charged, without a gap between the two. None until the log is whole. */
export function useOwnCalls(isWhole: boolean): OwnCalls {
  const client = useApolloClient();
  const [lines, setLines] = useState<readonly OwnLineFragment[] | null>(null);
  const [start, setStart] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(undefined);
  const [hour, setHour] = useState(() => lastHour(present()));
  const newest = useRef<string | null>(null);
  const waiting = useRef<OwnLineFragment[]>([]);
  const counted = useQuery(LastMinutesDocument, {
    variables: { ...hour, everyone: false },
    skip: !isWhole,
    fetchPolicy: 'cache-and-network',
  });
  const { refetch } = counted;

  const look = useCallback(async (): Promise<void> => {
    setError(undefined);
    try {
      const variables = { first: linesShown };
      const { data } = await client.query({ query: OwnRecentUsageDocument, variables, fetchPolicy: 'no-cache' });
      if (data === undefined) throw new Error('the usage log was answered with nothing');
      const { edges, pageInfo } = data.usageLog;
      setLines(edges.map(({ node }) => node));
      newest.current = pageInfo.startCursor;
      setStart(pageInfo.startCursor);
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
    let isStale = false;
    let countedAt = Date.now();
    const draw = setInterval(() => {
      // The same hour is the same to who asks for it.
      setHour((before) => (lastHour(present()).to === before.to ? before : lastHour(present())));
      const arrived = waiting.current;
      waiting.current = [];
      if (arrived.length > 0) setLines((before) => withLines(before ?? [], arrived));
      isStale ||= arrived.length > 0;
      if (!isStale || Date.now() - countedAt < countEveryMs) return;
      isStale = false;
      countedAt = Date.now();
      // A count that fails is made again with the next line; what it would have changed is in sight.
      refetch().catch(() => {});
    }, drawEveryMs);
    return () => clearInterval(draw);
  }, [refetch]);

  const minutes = (counted.data ?? counted.previousData)?.usageHistory.pieces ?? [];
  return { lines, minutes, start, error: error ?? feedError, look: () => void look() };
}
