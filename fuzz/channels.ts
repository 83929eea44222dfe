import type { ChannelSettings } from '../src/domain/channel-settings.js';

/** A channel of the plainest kind that is never switched off by its failures. */
export const plainSettings: Omit<ChannelSettings, 'baseUrl' | 'models'> = {
  name: 'hostile upstream',
  type: 1,
  groups: ['default', 'vip', 'svip'],
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
  autoBan: false,
  maxInputTokens: 0,
};
