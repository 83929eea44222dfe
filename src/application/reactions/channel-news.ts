import { type Recorded, streamKey } from '../../domain/events/events.js';
import { ChannelId, type UserId } from '../../domain/kernel/ids.js';
import type { Notification } from '../../domain/user/notification.js';
import type { Notify } from '../notifications/notifier.js';
import type { EventStore } from '../ports/storage-ports.js';
import type { Reaction } from './run-reactions.js';

export interface ChannelNewsPorts {
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly root: () => Promise<UserId | null>;
  readonly notify: Notify;
}

interface ChannelNews {
  readonly name: string;
  /** Whether the event is such news. */
  readonly is: (recorded: Recorded) => boolean;
  /**
   * What the notification says of the last such event; `name` is the channel's own at that time or later. null:
   * nothing.
   */
  readonly notificationOf: (
    last: Recorded,
    channel: { readonly id: ChannelId; readonly name: string },
  ) => Notification | null;
}

/** Root is notified of the last news of a kind of each channel. */
export const channelNews = (
  { store, root, notify }: ChannelNewsPorts,
  { name, is, notificationOf }: ChannelNews,
): Reaction => ({
  name,
  onlyNews: true,

  asks: (recorded) => (is(recorded) ? recorded.stream : null),

  async react(stream) {
    const receiver = await root();
    const channel = { id: ChannelId(streamKey(stream)), name: '' };
    let last: Recorded | null = null;
    for await (const page of store.streamPages(stream))
      for (const recorded of page) {
        const { event } = recorded;
        if (event.type === 'ChannelAdded' || event.type === 'ChannelEdited') channel.name = event.settings.name;
        if (is(recorded)) last = recorded;
      }
    const news = last === null ? null : notificationOf(last, channel);
    if (receiver !== null && last !== null && news !== null) await notify(receiver, news, last);
  },
});
