import { refuseEarly } from '../../rate-limit/recent-attempts.js';
import { SlidingWindow } from '../../rate-limit/sliding-window.js';
import type { Clock } from '../ports/storage-ports.js';

/*
 * How often the gateway writes to one address, and for one client: neither somebody else's mailbox nor the operator's
 * mail server is anybody's to fill. Whether the address belongs to somebody makes no difference.
 */

const hourMs = 60 * 60_000;
const pauseBetween = { max: 1, windowMs: 30_000 };
const toAddress = { max: 6, windowMs: hourMs };
/** A school or an office is one client. */
const forClient = { max: 30, windowMs: hourMs };

export interface MailLimits {
  /**
   * Counts a mail to `address`, which may be a hash of it, for a client in `network`. Throws `too-many-attempts`; what is
   * refused does not count. `withdrawn`: it could not be sent, so its owner may ask again at once.
   */
  begin(address: string, network: string): { withdrawn(): void };
}

export function mailLimits(clock: Clock): MailLimits {
  const ofAddress = [pauseBetween, toAddress].map((rule) => new SlidingWindow<string>(rule, clock));
  const ofClient = new SlidingWindow<string>(forClient, clock);

  return {
    begin(address, network) {
      refuseEarly(Math.max(ofClient.waitMs(network), ...ofAddress.map((window) => window.waitMs(address))));
      ofClient.take(network);
      const taken = ofAddress.map((window) => window.take(address));
      return {
        withdrawn() {
          for (const giveBack of taken) giveBack();
        },
      };
    },
  };
}
