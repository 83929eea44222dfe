import { createHash } from 'node:crypto';
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

interface Destination {
  readonly way: string;
  /** Of webhook and mail; '': none is given. */
  readonly address: string;
}

const destinationIn = ({ text }: Settings): Destination => ({
  way: text('general_setting.seal_head_delivery'),
  address: text('general_setting.seal_head_address').trim(),
});

/** Why nothing can be delivered there; null: it can. */
function lackingFor({ way, address }: Destination, { mail }: Settings, hasFile: boolean): string | null {
  if (way === 'file') return hasFile ? null : 'SEAL_HEAD_FILE names no file';
  if (address === '') return 'general_setting.seal_head_address is empty';
  return way === 'mail' && mail === null ? 'no mail server is configured' : null;
}

/** Another destination has not had it yet. Short, as an address may be long. */
const intervalName = ({ way, address }: Destination, hours: number, now: number): string =>
  `${way} ${createHash('sha256').update(address).digest('hex').slice(0, 16)} ${hours} ${Math.floor(now / (hours * hourMs))}`;

/** To be called now and then: sends the head once in each interval, as soon as it can be delivered. */
export function sealHeadSender(ports: SealHeadPorts): () => Promise<void> {
  const { seals, clock, settings, notify, root, append, log } = ports;
  let done = '';
  let warned = '';

  return async () => {
    const current = settings();
    const to = destinationIn(current);
    if (to.way === 'off') return;
    const name = intervalName(to, current.number('general_setting.seal_head_hours'), clock.now());
    if (name === done) return;
    const lacking = lackingFor(to, current, append !== null);
    if (lacking !== null) {
      if (name !== warned) log.warn({}, `the head of the seals goes nowhere: ${lacking}`);
      warned = name;
      return;
    }
    const seal = await seals.newest();
    if (seal === null) return;
    if (to.way === 'file') await append?.(sealLine(seal));
    else {
      const id = await root();
      if (id === null) return;
      await notify(id, newsOf(seal), { id: `seal head ${name}`, at: clock.now() });
    }
    done = name;
  };
}
