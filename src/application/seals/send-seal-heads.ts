import type { UserId } from '../../domain/kernel/ids.js';
import { type Notification, sealHeadNews } from '../../domain/user/notification.js';
import type { Notify } from '../notifications/notifier.js';
import type { Settings } from '../options/settings.js';
import type { Seal, SealStore } from '../ports/seal-ports.js';
import type { Clock } from '../ports/storage-ports.js';
import { headText } from './compare-head.js';
import { sealLine } from './sealed-export.js';

/*
 * The head of the seals goes where whoever runs the gateway cannot change it, again and again. By webhook or mail it waits
 * in the queue of notifications, once for each interval, whoever asks and however often the process is started.
 */

interface SealHeadPorts {
  readonly seals: Pick<SealStore, 'newest'>;
  readonly clock: Clock;
  readonly settings: () => Settings;
  readonly notify: Notify;
  /** Whose name it waits under; null: the gateway has not been set up. */
  readonly root: () => Promise<UserId | null>;
  /** Adds a line to the file that the environment names, unless it ends with it; null: it names none. */
  readonly append: ((line: string) => Promise<void>) | null;
  readonly log: { warn(facts: Record<string, unknown>, message: string): void };
}

const hourMs = 60 * 60 * 1000;

const newsOf = (seal: Seal): Notification => sealHeadNews(headText(seal), sealLine(seal));

/** To be called now and then: sends the head once in each interval. */
export function sealHeadSender(ports: SealHeadPorts): () => Promise<void> {
  const { seals, clock, settings, notify, root, append, log } = ports;
  let done = '';

  const send = async (way: string, name: string, seal: Seal): Promise<void> => {
    if (way === 'file') {
      if (append === null) log.warn({}, 'the head of the seals goes nowhere: SEAL_HEAD_FILE names no file');
      else await append(sealLine(seal));
      return;
    }
    const id = await root();
    if (id !== null) await notify(id, newsOf(seal), { id: `seal head ${name}`, at: clock.now() });
  };

  return async () => {
    const current = settings();
    const way = current.text('general_setting.seal_head_delivery');
    if (way === 'off') return;
    const hours = current.number('general_setting.seal_head_hours');
    const name = `${way} ${hours} ${Math.floor(clock.now() / (hours * hourMs))}`;
    if (name === done) return;
    const seal = await seals.newest();
    if (seal === null) return;
    await send(way, name, seal);
    done = name;
  };
}
