import type { InMemoryCache } from '@apollo/client';
import { useApolloClient } from '@apollo/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import {
  UsageFeedDocument,
  type UsageFeedSubscription,
  UsageLogDocument,
  type UsageLogQuery,
  type UsageLogQueryVariables,
} from '../generated/log/log.js';
import { toaster } from '../kit/Toasts.js';
import { errorText } from '../kit/words/errors.js';
import { shortenLog } from './shortenedLog.js';
import { noneWaiting, withLine } from './waitingLines.js';

interface LiveLinesOptions {
  /** Of the page shown; a change begins anew. */
  readonly variables: UsageLogQueryVariables;
  /** Lines after this one are missing; null: not known yet, or not the newest page. */
  readonly after: string | null;
  /** Somebody reads a line, or wants none for now: others must not push it away. They wait. */
  readonly isHeld: boolean;
  readonly refetch: () => unknown;
}

interface LiveLines {
  /** Ids of the lines that came last. */
  readonly fresh: ReadonlySet<string>;
  readonly waiting: number;
  readonly showWaiting: () => void;
}

/** Lines are put into the table together, so that a busy gateway does not redraw it twenty times a second. */
const togetherMs = 400;
/**
 * Lines between two times that what is kept is shortened. Each time leaves another copy of the page's queries in caches of
 * the client, which keep two thousand of them.
 */
const shortenAfter = 1_000;

/**
 * Puts the lines of the feed before those of the newest page as they come. After a lost connection the feed goes on
 * after the last line it delivered.
 */
export function useLiveLines({ variables, after, isHeld: held, refetch }: LiveLinesOptions): LiveLines {
  const client = useApolloClient();
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const [waitingCount, setWaitingCount] = useState(0);
  const waiting = useRef(noneWaiting);
  const sinceShortened = useRef(0);
  const latest = useRef({ variables, refetch, held });
  latest.current = { variables, refetch, held };

  const show = useCallback((): void => {
    const { lines, overflowed } = waiting.current;
    waiting.current = noneWaiting;
    setWaitingCount(0);
    if (lines.length === 0) return;
    setFresh(new Set(lines.map(({ id }) => id)));
    if (overflowed) {
      void latest.current.refetch();
      return;
    }
    client.cache.updateQuery({ query: UsageLogDocument, variables: latest.current.variables }, (page) =>
      page === null ? page : withLines(page, lines),
    );
    sinceShortened.current += lines.length;
    if (sinceShortened.current < shortenAfter) return;
    sinceShortened.current = 0;
    // The console has no other.
    shortenLog(client.cache as InMemoryCache);
  }, [client]);

  // The page's own cursor moves with every line shown; the feed begins once for a filter and keeps its own place.
  const resumeAfter = useRef(after);
  if (after === null) resumeAfter.current = null;
  else resumeAfter.current ??= after;
  const isLive = after !== null;
  const { filter, everyone, admin } = variables;
  useEffect(() => {
    const start = resumeAfter.current;
    if (!isLive || start === null) return;
    let delivered = start;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const feed = client
      .subscribe({
        query: UsageFeedDocument,
        variables: { filter, everyone, admin, after: start },
        context: { resumeWith: () => ({ after: delivered }) },
        fetchPolicy: 'no-cache',
      })
      .subscribe({
        next: ({ data, error }: { readonly data?: UsageFeedSubscription | null; readonly error?: unknown }) => {
          if (error !== undefined) toaster.failure(errorText(error));
          if (!data) return;
          delivered = data.usageFeed.id;
          waiting.current = withLine(waiting.current, data.usageFeed);
          timer ??= setTimeout(() => {
            timer = undefined;
            if (latest.current.held) setWaitingCount(waiting.current.count);
            else show();
          }, togetherMs);
        },
        error: (error: unknown) => toaster.failure(errorText(error)),
      });
    return () => {
      feed.unsubscribe();
      clearTimeout(timer);
      waiting.current = noneWaiting;
      setWaitingCount(0);
      setFresh(new Set());
    };
  }, [client, isLive, filter, everyone, admin, show]);

  useEffect(() => {
    if (!held) show();
  }, [held, show]);

  return { fresh, waiting: waitingCount, showWaiting: show };
}

function withLines(page: UsageLogQuery, lines: readonly UsageFeedSubscription['usageFeed'][]): UsageLogQuery {
  const known = new Set(page.usageLog.edges.map(({ cursor }) => cursor));
  const arrived = lines.filter(({ id }) => !known.has(id)).map((node) => ({ cursor: node.id, node }));
  const edges = [...arrived, ...page.usageLog.edges];
  const pageInfo = { ...page.usageLog.pageInfo, startCursor: edges[0]?.cursor ?? page.usageLog.pageInfo.startCursor };
  return { usageLog: { ...page.usageLog, edges, pageInfo } };
}
