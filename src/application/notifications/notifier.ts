import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { type Notification, newsForMs } from '../../domain/user/notification.js';
import type { NotificationLimit, NotificationQueue } from '../ports/outbound-ports.js';
import type { Clock, PersonalData } from '../ports/storage-ports.js';

/** Puts a notification into the queue, unless it is old, known by its cause, or one too many of its kind. */
export type Notify = (user: UserId, notification: Notification, cause: { id: string; at: Instant }) => Promise<void>;

export interface NotifierPorts {
  readonly queue: Pick<NotificationQueue, 'add'>;
  readonly personal: Pick<PersonalData, 'seal'>;
  readonly clock: Clock;
  readonly limit: NotificationLimit;
}

export const notifier =
  ({ queue, personal, clock, limit }: NotifierPorts): Notify =>
  async (user, notification, { id, at }) => {
    const now = clock.now();
    if (now - at > newsForMs) return;
    const content = await personal.seal(user, JSON.stringify(notification));
    await queue.add({ user, kind: notification.kind, cause: id, content, at: now }, limit);
  };
