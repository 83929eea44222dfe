import type { Actor } from '../../domain/user.js';
import { authorise } from '../authorise.js';
import type { LiveTraffic, TrafficSnapshot } from '../memory/live-traffic.js';

/* What goes through the gateway now, for administrators. */

export function trafficQueries({ traffic }: { readonly traffic: LiveTraffic }) {
  return {
    traffic(viewer: Actor): TrafficSnapshot {
      authorise(viewer, 'admin');
      return traffic.snapshot();
    },
  };
}
