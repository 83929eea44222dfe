import { blankChannel, type ChannelSettings } from '../../../src/domain/channel/channel-settings.js';

/** A channel with nothing special about it, and what a test changes. */
export const channelSettings = (changed: Partial<ChannelSettings> = {}): ChannelSettings => ({
  ...blankChannel,
  name: 'east',
  type: 1,
  models: ['gpt-4o'],
  ...changed,
});
