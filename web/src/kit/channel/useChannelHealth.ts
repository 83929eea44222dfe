import type { ApolloClient } from '@apollo/client';
import { useSubscription } from '@apollo/client/react';
import { ChannelHealthDocument, type ChannelHealthSubscription } from '../../generated/kit/channel/channelHealth.js';

export type ChannelChange = ChannelHealthSubscription['channelHealth'];

/**
 * What happens to channels, as it happens. Each change brings the channel as it is now, and every place that shows it
 * follows.
 */
export function useChannelHealth(onChange: (change: ChannelChange, client: ApolloClient) => void): void {
  useSubscription(ChannelHealthDocument, {
    ignoreResults: true,
    onData: ({ client, data: { data } }) => {
      if (data !== undefined) onChange(data.channelHealth, client);
    },
  });
}
