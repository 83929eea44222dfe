import type { Settings } from '../../application/options/settings.js';
import type { Clock } from '../../application/ports/storage-ports.js';
import type { ApiKeyId, ChannelId, UserId } from '../../domain/kernel/ids.js';
import { tooManyCalls } from '../contracts/errors.js';
import { concurrencyCounter } from './concurrency-counter.js';
import { modelRateLimiter } from './rate-limit.js';

/** What is counted over all calls of the node, whoever serves them. */
export interface CallLimits {
  /**
   * Lets a call in by the model rate limit of its user and the calls under way of its API key; null: of the user in
   * person, who may have as many. Throws RelayError 429. The result is called once, when the call is over.
   */
  admit(user: UserId, apiKey: ApiKeyId | null, limits: Limits): Leave | Promise<Leave>;
  /** null: the channel has `max` calls under way already; 0 is no limit. The result is called once. */
  enterChannel(channel: ChannelId, max: number): (() => void) | null | Promise<(() => void) | null>;
}

export type Limits = Pick<Settings, 'modelRateLimit' | 'apiKeyConcurrency'>;
export type Leave = (succeeded: boolean) => void;

export function callLimits(clock: Clock): CallLimits {
  const requests = modelRateLimiter(clock);
  const perApiKey = concurrencyCounter();
  const inPerson = concurrencyCounter();
  const perChannel = concurrencyCounter();
  return {
    admit(user, apiKey, { modelRateLimit, apiKeyConcurrency }) {
      const concluded = requests.admit(user, modelRateLimit);
      const [counter, id] = apiKey === null ? [inPerson, user] : [perApiKey, apiKey];
      if (!counter.enter(id, apiKeyConcurrency)) {
        concluded(false);
        throw tooManyCalls(apiKey === null ? 'playground' : 'token', apiKeyConcurrency);
      }
      return (succeeded) => {
        counter.leave(id);
        concluded(succeeded);
      };
    },
    enterChannel: (channel, max) => (perChannel.enter(channel, max) ? () => perChannel.leave(channel) : null),
  };
}
