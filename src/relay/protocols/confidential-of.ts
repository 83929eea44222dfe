import type { Provider, UpstreamChannel } from '../contracts/protocol.js';
import type { Confidential } from '../upstream/confidential.js';

/** What nobody may read in an upstream's own words about a channel. */
export const confidentialOf = (provider: Provider, channel: UpstreamChannel): Confidential => ({
  key: channel.key,
  baseUrl: channel.baseUrl.trim() || (provider.baseUrlOf?.(channel) ?? provider.defaultBaseUrl),
  organization: channel.organization,
  other: channel.other,
  proxy: channel.proxy,
});
