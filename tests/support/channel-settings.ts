import type { ChannelSettings } from '../../src/domain/channel-settings.js';

/** A channel with nothing special about it, and what a test changes. */
export const channelSettings = (changed: Partial<ChannelSettings> = {}): ChannelSettings => ({
  name: 'east',
  type: 1,
  baseUrl: '',
  models: ['gpt-4o'],
  groups: ['default'],
  priority: 0,
  weight: 0,
  tag: null,
  modelMapping: null,
  statusCodeMapping: '',
  paramOverride: null,
  setting: null,
  other: '',
  organization: null,
  testModel: null,
  autoBan: true,
  maxInputTokens: 0,
  ...changed,
});
