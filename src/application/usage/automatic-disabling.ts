import { apiKeyDecider } from '../../domain/api-key/api-key.js';
import { channelDecider } from '../../domain/channel/channel.js';
import { streams } from '../../domain/events/events.js';
import type { ApiKeyId, ChannelId, SecretId, UserId } from '../../domain/kernel/ids.js';
import type { Handle } from '../handle.js';

/* What live traffic reports back to the system. Calls do not wait for it; a repeat changes nothing. */

interface DisablingLog {
  error(facts: Record<string, unknown>, message: string): void;
}

export function automaticDisabling(handle: Handle, log: DisablingLog) {
  /** One report of a kind at a time: a broken channel fails many calls within the same moment. */
  const inProgress = new Set<string>();

  const report = (what: string, order: () => Promise<unknown>): void => {
    if (inProgress.has(what)) return;
    inProgress.add(what);
    order()
      .catch((error: unknown) => log.error({ what, error: String(error) }, 'a notice from live traffic was lost'))
      .finally(() => inProgress.delete(what));
  };

  return {
    /** The channel is switched off until somebody, or a passing test, switches it on again. `key`: it was asked with. */
    outOfOrder(id: ChannelId, key: SecretId, reason: string): void {
      report(`channel ${id} ${key}`, () =>
        handle(channelDecider, streams.channel(id), { type: 'DisableChannel', automatic: true, key, reason }),
      );
    },
    /** An enabled key was refused: from now on its status says why. */
    refused(id: ApiKeyId, owner: UserId, cause: 'expired' | 'exhausted'): void {
      report(`api key ${id}`, () => handle(apiKeyDecider, streams.apiKey(id), { type: 'DisableApiKey', owner, cause }));
    },
  };
}
