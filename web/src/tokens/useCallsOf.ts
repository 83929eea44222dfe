import { useQuery, useSubscription } from '@apollo/client/react';
import { useRef, useState } from 'react';
import {
  type CallLineFragment,
  CallsOfTokenDocument,
  LastCallOfTokenDocument,
  NewestLineDocument,
} from '../generated/tokens/tokens.js';

/** Before every line there is. */
const beginning = '0';

/**
 * The newest call with a token, from the first look on without a gap: the feed begins at what was the newest line before
 * the calls there had been were asked for. Followed until one is charged. null: none yet.
 */
export function useCallsOf(id: string): { readonly call: CallLineFragment | null; readonly error: unknown } {
  const [arrived, setArrived] = useState<CallLineFragment | null>(null);
  const newest = useRef<string | null>(null);
  const line = useQuery(NewestLineDocument, { fetchPolicy: 'no-cache' });
  const start = line.data === undefined ? null : (line.data.usageLog.pageInfo.startCursor ?? beginning);
  const before = useQuery(LastCallOfTokenDocument, {
    variables: { id },
    fetchPolicy: 'no-cache',
    skip: start === null,
  });
  const call = arrived ?? before.data?.usageLog.edges[0]?.node ?? null;
  const feed = useSubscription(CallsOfTokenDocument, {
    skip: start === null || call?.type === 'CONSUME',
    variables: { id, after: start ?? beginning },
    fetchPolicy: 'no-cache',
    ignoreResults: true,
    // After a lost connection it goes on where it was cut.
    context: { resumeWith: () => ({ after: newest.current ?? start }) },
    onData: ({ data: { data } }) => {
      if (data === undefined) return;
      newest.current = data.usageFeed.id;
      setArrived(data.usageFeed);
    },
  });
  return { call, error: line.error ?? before.error ?? feed.error };
}
