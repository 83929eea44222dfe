import { useQuery, useSubscription } from '@apollo/client/react';
import { useMemo, useState } from 'react';
import { LastMinutesDocument } from '../generated/dashboard/history.js';
import { LiveTrafficDocument, type LiveTrafficSubscription } from '../generated/dashboard/traffic.js';
import { lastHour, minutesBefore, remembering, type TrafficPoint } from './trafficHistory.js';

export type Traffic = LiveTrafficSubscription['liveTraffic'];

interface TrafficNow {
  /** null: nothing has arrived yet. */
  readonly traffic: Traffic | null;
  readonly history: readonly TrafficPoint[];
  readonly error: unknown;
}

interface Seen {
  readonly traffic: Traffic | null;
  readonly points: readonly TrafficPoint[];
}

/** The server's last hour up to where one began to look, and what has arrived since. */
export function useTrafficHistory(): TrafficNow {
  const [opened] = useState(() => Math.floor(Date.now() / 1_000));
  const [{ traffic, points }, setSeen] = useState<Seen>({ traffic: null, points: [] });
  const { data } = useQuery(LastMinutesDocument, {
    variables: { ...lastHour(opened), everyone: true },
    fetchPolicy: 'no-cache',
  });
  const { error } = useSubscription(LiveTrafficDocument, {
    // A picture a second, of no use to anybody but this page: the cache would only copy it.
    fetchPolicy: 'no-cache',
    ignoreResults: true,
    onData: ({ data: { data: arrived } }) => {
      if (arrived === undefined) return;
      const { liveTraffic } = arrived;
      const point = { at: liveTraffic.at, ...liveTraffic.total };
      setSeen((before) => ({ traffic: liveTraffic, points: remembering(before.points, point) }));
    },
  });
  const first = points.at(0)?.at ?? opened;
  const earlier = useMemo(() => minutesBefore(data?.usageHistory.pieces ?? [], first), [data, first]);
  return { traffic, history: [...earlier, ...points], error };
}
