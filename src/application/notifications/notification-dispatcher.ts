import { atIntervals } from '../../concurrency/at-intervals.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { Instant } from '../../domain/kernel/instant.js';
import { type Notification, newsForMs } from '../../domain/user/notification.js';
import type { NotificationQueue, QueuedNotification } from '../ports/outbound-ports.js';
import type { Clock, PersonalData } from '../ports/storage-ports.js';
import type { NotificationOutcome } from './deliver-notification.js';

/*
 * Empties the queue of notifications, a few at a time, beside everything else. A try is counted before it is made, so
 * whatever becomes of the process or of the other side, nobody is told more often than there are tries.
 */

interface TellingPorts {
  readonly personal: Pick<PersonalData, 'open'>;
  readonly clock: Clock;
  readonly tell: (user: UserId, notification: Notification) => Promise<NotificationOutcome>;
  readonly queue: Pick<NotificationQueue, 'take' | 'later' | 'end'>;
  readonly log: {
    warn(facts: Record<string, unknown>, message: string): void;
    error(facts: Record<string, unknown>, message: string): void;
  };
}

interface TellingOptions {
  /** Between two looks into the queue. */
  readonly everyMs: number;
  /** Waits after the tries that fail, in their order; one more try than there are waits. */
  readonly backoffMs: readonly number[];
}

/** Under way at a time: one that hangs keeps only its own place. */
const maxUnderWay = 16;
/** Longer than any try takes; what a process that died was trying is tried again after so long. */
const leaseMs = 40_000;
/** Longest an end waits for what is under way; it is tried again after the next start. */
const patienceMs = 2_000;

export function notificationDispatcher(
  ports: TellingPorts,
  { everyMs, backoffMs }: TellingOptions,
): () => Promise<void> {
  const { queue, personal, clock, log } = ports;
  const underWay = new Set<Promise<void>>();
  let stopped = false;

  const outcomeOf = async ({ user, content }: QueuedNotification): Promise<NotificationOutcome> => {
    const text = await personal.open(user, content);
    if (text === null) return { ok: 'skipped', reason: 'the user is gone' };
    return ports.tell(user, JSON.parse(text) as Notification);
  };

  const tryOne = async (queued: QueuedNotification): Promise<void> => {
    const { id, user, kind, tries } = queued;
    const told: NotificationOutcome = await outcomeOf(queued).catch((error: unknown) => {
      log.error({ err: error, user, kind }, 'a notification failed');
      return { ok: false, reason: 'something is wrong with the gateway' };
    });
    if (told.ok === true) return queue.end(id, 'told');
    if (told.ok === 'skipped') return queue.end(id, 'skipped');
    const wait = backoffMs[tries - 1];
    const now = clock.now();
    if (wait !== undefined && now + wait - queued.at <= newsForMs) return queue.later(id, Instant(now + wait));
    log.warn({ user, kind, tries, reason: told.reason }, 'a notification has been given up');
    await queue.end(id, 'given-up');
  };

  const look = async (): Promise<void> => {
    const room = maxUnderWay - underWay.size;
    if (room <= 0) return;
    const now = clock.now();
    for (const queued of await queue.take(now, room, Instant(now + leaseMs))) {
      const trying: Promise<void> = tryOne(queued)
        .catch((error: unknown) => {
          if (!stopped) log.error({ err: error }, 'the outcome of a notification could not be written down');
        })
        .finally(() => underWay.delete(trying));
      underWay.add(trying);
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
    await Promise.race([Promise.all(underWay), out]);
    clearTimeout(patience);
  };
}
