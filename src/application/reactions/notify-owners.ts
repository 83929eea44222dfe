import { type Recorded, type StreamName, streamKey, streams } from '../../domain/events/events.js';
import { UserId } from '../../domain/kernel/ids.js';
import { securityNews } from '../../domain/user/security-news.js';
import type { Notify } from '../notifications/notifier.js';
import { addressAfter } from '../options/own-address.js';
import type { EventStore, PersonalData } from '../ports/storage-ports.js';
import type { Reaction } from './run-reactions.js';

interface NotifyOwnersPorts {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly personal: Pick<PersonalData, 'open'>;
  readonly notify: Notify;
}

/** What a registration writes at once: its address, and the account elsewhere that it came by. */
const writtenAtOnce = 3;

/**
 * Owners are notified by mail of what has changed in how one signs in to their accounts: at the address that the
 * account had before, so that who takes an address over cannot keep it from them.
 */
export function notifyOwners({ store, personal, notify }: NotifyOwnersPorts): Reaction {
  const waiting = new Map<StreamName, Recorded[]>();

  const addressBefore = async (user: UserId, { stream, revision }: Recorded): Promise<string | null> => {
    const history = await store.readStream(streams.user(user));
    const isOwn = stream === streams.user(user);
    const shown = addressAfter(isOwn ? history.filter((recorded) => recorded.revision < revision) : history);
    return shown === null ? null : personal.open(user, shown);
  };

  return {
    name: 'tell-owners',
    onlyNews: true,

    asks(recorded) {
      const { stream, revision, event } = recorded;
      const isRegistration =
        revision < writtenAtOnce && (event.type === 'EmailChanged' || event.type === 'IdentityLinked');
      if (isRegistration || securityNews(event) === null) return null;
      waiting.set(stream, [...(waiting.get(stream) ?? []), recorded]);
      return stream;
    },

    async react(stream) {
      const user = UserId(streamKey(stream));
      for (const recorded of waiting.get(stream) ?? []) {
        const notification = securityNews(recorded.event);
        const to = await addressBefore(user, recorded);
        if (notification !== null && to !== null) await notify(user, { ...notification, to }, recorded);
        const left = (waiting.get(stream) ?? []).filter((other) => other !== recorded);
        if (left.length > 0) waiting.set(stream, left);
        else waiting.delete(stream);
      }
    },
  };
}
