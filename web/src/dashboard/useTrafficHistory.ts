import { useSubscription } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';
import { LiveTrafficDocument, type LiveTrafficSubscription } from '../generated/dashboard/traffic.js';
import { historyFrom, remembering, type TrafficPoint } from './trafficHistory.js';

export type Traffic = LiveTrafficSubscription['liveTraffic'];

interface TrafficNow {
  /** null: nothing has arrived yet. */
  readonly traffic: Traffic | null;
  readonly history: readonly TrafficPoint[];
  readonly error: unknown;
}

/*
 * The server tells the present; what went before is what this tab has seen, kept for its lifetime, so that a reload or a
 * look at another page does not empty the charts.
 */
const storageKey = (viewerId: string): string => `traffic-${viewerId}`;

function stored(viewerId: string): readonly TrafficPoint[] {
  try {
    return historyFrom(sessionStorage.getItem(storageKey(viewerId)));
  } catch {
    return [];
  }
}

function store(viewerId: string, history: readonly TrafficPoint[]): void {
  try {
    sessionStorage.setItem(storageKey(viewerId), JSON.stringify(history));
  } catch {
    // A browser that refuses storage begins with empty charts.
  }
}

export function useTrafficHistory(viewerId: string): TrafficNow {
  const [now, setNow] = useState<Omit<TrafficNow, 'error'>>(() => ({ traffic: null, history: stored(viewerId) }));
  const latest = useRef(now.history);
  latest.current = now.history;
  const { error } = useSubscription(LiveTrafficDocument, {
    // A picture a second, of no use to anybody but this page: the cache would only copy it.
    fetchPolicy: 'no-cache',
    ignoreResults: true,
    onData: ({ data: { data } }) => {
      if (data === undefined) return;
      const traffic = data.liveTraffic;
      setNow(({ history }) => ({ traffic, history: remembering(history, { at: traffic.at, ...traffic.total }) }));
    },
  });
  useEffect(() => {
    const keep = (): void => store(viewerId, latest.current);
    window.addEventListener('pagehide', keep);
    return () => {
      window.removeEventListener('pagehide', keep);
      keep();
    };
  }, [viewerId]);
  return { ...now, error };
}
