import type { Recorded } from '../../domain/events/events.js';
import { channelSwitched } from '../../domain/user/notification.js';
import { type ChannelNewsPorts, channelNews } from './channel-news.js';
import type { Reaction } from './run-reactions.js';

const isSwitch = ({ event }: Recorded): boolean =>
  (event.type === 'ChannelDisabled' || event.type === 'ChannelEnabled') && event.automatic;

/** Root is notified of a channel that was switched off or on by nobody's hand. */
export const reportChannels = (ports: ChannelNewsPorts): Reaction =>
  channelNews(ports, {
    name: 'report-channels',
    is: isSwitch,
    notificationOf: ({ event }, { id, name }) =>
      channelSwitched(id, name, event.type === 'ChannelDisabled' ? { reason: event.reason } : null),
  });
