import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { LiveTraffic, TrafficSnapshot } from '../memory/live-traffic.js';

/* What goes through the gateway now, for administrators. */

export function trafficQueries({ traffic }: { readonly traffic: LiveTraffic }) {
  return {
    traffic(viewer: Actor): TrafficSnapshot {
      authorise(viewer, 'admin-reading');
      return traffic.snapshot();
    },

    /** For those who watch: worked out once for all who look at about the same time. */
    watchedTraffic(viewer: Actor): TrafficSnapshot {
      authorise(viewer, 'admin-reading');
      return traffic.recentSnapshot();
    },
  };
}
