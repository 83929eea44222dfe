import type { NodeDirectory } from '../application/memory/directory.js';
import { deliverNotification } from '../application/notifications/deliver-notification.js';
import { notificationDispatcher } from '../application/notifications/notification-dispatcher.js';
import type { OptionSecrets } from '../application/options/option-secrets.js';
import type { Mailer, NotificationQueue, Outbound } from '../application/ports/outbound-ports.js';
import type { PersonalData, Sessions, Vault } from '../application/ports/storage-ports.js';
import type { ReadModels } from '../projections/database.js';
import type { NodeStart } from './node-start.js';

/** Between two looks for notifications that are due. */
const notificationPauseMs = 1_000;
/** Waits after the tries that fail, in their order. */
const backoffMs = [5, 30, 300, 1800, 7200, 21_600].map((seconds) => seconds * 1000);

interface NotificationJobs {
  readonly queue: NotificationQueue;
  readonly db: ReadModels;
  readonly personal: PersonalData;
  readonly vault: Vault;
  readonly directory: Pick<NodeDirectory, 'settings'>;
  readonly outbound: Outbound;
  readonly mailer: Mailer;
  readonly sessions: Pick<Sessions, 'languageOf'>;
  readonly secretOf: OptionSecrets;
}

/** Sends what lies in the queue. */
export function startNotifications({ clock, log, closing }: NodeStart, jobs: NotificationJobs): void {
  const { queue, personal, directory, ...delivery } = jobs;
  const ports = { ...delivery, personal, clock, log, settings: () => directory.settings() };
  closing.add(
    notificationDispatcher(
      {
        ...{ queue, personal, clock, log },
        deliver: (user, notification) => deliverNotification(ports, user, notification),
      },
      { everyMs: notificationPauseMs, backoffMs },
    ),
  );
}
