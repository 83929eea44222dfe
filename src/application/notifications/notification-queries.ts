import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { NotificationQueue, NotificationQueueState } from '../ports/outbound-ports.js';
import type { Clock } from '../ports/storage-ports.js';

interface NotificationQueryPorts {
  readonly notificationQueue: Pick<NotificationQueue, 'state'>;
  readonly clock: Clock;
}

export const notificationQueries = ({ notificationQueue, clock }: NotificationQueryPorts) => ({
  /** How notifications get through; for root. */
  async notifications(viewer: Actor): Promise<NotificationQueueState> {
    authorise(viewer, 'root-reading');
    return notificationQueue.state(clock.now());
  },
});
