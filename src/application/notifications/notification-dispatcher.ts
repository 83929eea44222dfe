import { atIntervals } from '../../concurrency/at-intervals.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { Instant } from '../../domain/kernel/instant.js';
import { type Notification, newsForMs } from '../../domain/user/notification.js';
import type { NotificationQueue, QueuedNotification } from '../ports/outbound-ports.js';
import type { Clock, PersonalData } from '../ports/storage-ports.js';
import type { NotificationOutcome } from './deliver-notification.js';

/*
 * Delivers queued notifications in the background, a few at a time. A try is counted before it is made, so that nobody
 * gets a notification more often than there are tries, whatever fails.
 */

interface DispatcherPorts {
  readonly personal: Pick<PersonalData, 'open'>;
  readonly clock: Clock;
  readonly deliver: (user: UserId, notification: Notification) => Promise<NotificationOutcome>;
  readonly queue: Pick<NotificationQueue, 'take' | 'later' | 'end'>;
  readonly log: {
    warn(facts: Record<string, unknown>, message: string): void;
    error(facts: Record<string, unknown>, message: string): void;
  };
}

interface DispatcherOptions {
  /** Between two looks into the queue. */
  readonly everyMs: number;
  /** Waits after the tries that fail, in their order; one more try than there are waits. */
  readonly backoffMs: readonly number[];
}

/** In flight at a time: one that hangs holds up only itself. */
const maxInFlight = 16;
/** Longer than any try takes; after it, what a dead process was trying is tried again. */
const leaseMs = 40_000;
/** Longest a stop waits for what is in flight; it is tried again after the next start. */
const patienceMs = 2_000;

export function notificationDispatcher(
  ports: DispatcherPorts,
  { everyMs, backoffMs }: DispatcherOptions,
): () => Promise<void> {
  const { queue, personal, clock, log } = ports;
  const inFlight = new Set<Promise<void>>();
  let stopped = false;

  const outcomeOf = async ({ user, content }: QueuedNotification): Promise<NotificationOutcome> => {
    const text = await personal.open(user, content);
    if (text === null) return { ok: 'skipped', reason: 'the user is gone' };
    return ports.deliver(user, JSON.parse(text) as Notification);
  };

  const tryOne = async (queued: QueuedNotification): Promise<void> => {
    const { id, user, kind, tries } = queued;
    const outcome: NotificationOutcome = await outcomeOf(queued).catch((error: unknown) => {
      log.error({ err: error, user, kind }, 'a notification failed');
      return { ok: false, reason: 'something is wrong with the gateway' };
    });
    if (outcome.ok === true) return queue.end(id, 'told');
    if (outcome.ok === 'skipped') return queue.end(id, 'skipped');
    const wait = backoffMs[tries - 1];
    const now = clock.now();
    if (wait !== undefined && now + wait - queued.at <= newsForMs) return queue.later(id, Instant(now + wait));
    log.warn({ user, kind, tries, reason: outcome.reason }, 'a notification has been given up');
    await queue.end(id, 'given-up');
  };

  const look = async (): Promise<void> => {
    const room = maxInFlight - inFlight.size;
    if (room <= 0) return;
    const now = clock.now();
    for (const queued of await queue.take(now, room, Instant(now + leaseMs))) {
      const trying: Promise<void> = tryOne(queued)
        .catch((error: unknown) => {
          if (!stopped) log.error({ err: error }, 'the outcome of a notification could not be written down');
        })
        .finally(() => inFlight.delete(trying));
      inFlight.add(trying);
    }
  };

  const endLooking = atIntervals(everyMs, () =>
    look().catch((error: unknown) => {
      if (!stopped) log.error({ err: error }, 'the queue of notifications could not be read; it is tried again');
    }),
  );

  return async () => {
    stopped = true;
    await endLooking();
    let patience: NodeJS.Timeout | undefined;
    const out = new Promise<void>((resolve) => {
      patience = setTimeout(resolve, patienceMs);
    });
    await Promise.race([Promise.all(inFlight), out]);
    clearTimeout(patience);
  };
}
