import type { Recorded } from '../../domain/events/events.js';
import { channelRunningOut } from '../../domain/user/notification.js';
import { type ChannelNewsPorts, channelNews } from './channel-news.js';
import type { Reaction } from './run-reactions.js';

const becameLow = ({ event }: Recorded): boolean => event.type === 'ChannelBalanceObserved' && event.becameLow;

/** Root is notified of a channel whose account has come to have little left. */
export const reportLowBalances = (ports: ChannelNewsPorts): Reaction =>
  channelNews(ports, {
    name: 'report-low-balances',
    is: becameLow,
    notificationOf: ({ event }, { id, name }) =>
      event.type === 'ChannelBalanceObserved'
        ? channelRunningOut(id, name, [event.balance, event.currency].join(' ').trim())
        : null,
  });
