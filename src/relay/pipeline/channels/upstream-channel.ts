import type { ChannelView } from '../../../application/ports/storage-ports.js';
import type { RelayPorts } from '../../contracts/ports.js';
import type { RequestOptions, UpstreamChannel } from '../../contracts/protocol.js';
import type { ParsedChannel } from './channel-settings.js';

/* What a wire is given of a channel, and of what operators say of all. */

/** null: the key of the channel is missing. */
export async function upstreamChannelOf(
  { vault }: Pick<RelayPorts, 'vault'>,
  { settings, secrets }: ChannelView,
  { paramOverride, forceFormat, thinkingToContent }: ParsedChannel,
): Promise<UpstreamChannel | null> {
  const key = await vault.get(secrets.key);
  const proxy = secrets.proxy === null ? null : await vault.get(secrets.proxy);
  if (key === null) return null;
  const { other, organization } = settings;
  const baseUrl = settings.baseUrl.replace(/\/+$/, '');
  return { baseUrl, key, other, organization, proxy, paramOverride, forceFormat, thinkingToContent };
}

export function requestOptions(
  { directory, config, clock }: Pick<RelayPorts, 'directory' | 'config' | 'clock'>,
  { passThrough }: Pick<ParsedChannel, 'passThrough'>,
  { pictures, callback }: Pick<RequestOptions, 'pictures' | 'callback'>,
): RequestOptions {
  const settings = directory.settings();
  return {
    forceUsage: config.forceUsage,
    azureDefaultApiVersion: config.azureDefaultApiVersion,
    siteAddress: settings.siteAddress,
    claude: settings.claude,
    keepsUpstream: settings.keepsUpstream,
    passThrough: passThrough || settings.passThroughRequests,
    // Not when the call began: what is signed with the time must be young, and another channel may have been asked first.
    now: clock.now(),
    gemini: settings.gemini,
    midjourney: settings.midjourney,
    callback,
    pictures,
  };
}
