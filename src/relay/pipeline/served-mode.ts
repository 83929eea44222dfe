import type { ChannelView } from '../../application/ports/storage-ports.js';
import type { Mode } from '../../domain/channel/provider.js';
import type { Endpoint } from '../contracts/endpoint.js';
import type { CallerRequest, Provider } from '../contracts/protocol.js';

/* Whether a channel serves what is asked for, and in which mode: its own, or chat where it lacks that. */

/** What decides it: the provider, and the address of the channel. */
interface Serving {
  readonly provider: Pick<Provider, 'modes' | 'lacks'>;
  readonly baseUrl: string;
}

const has = ({ provider: { modes, lacks }, baseUrl }: Serving, mode: Mode): boolean =>
  modes.includes(mode) && lacks?.(mode, baseUrl) !== true;

const servingOf = ({ settings }: ChannelView, provider: Provider): Serving => ({ provider, baseUrl: settings.baseUrl });

interface ProviderPorts {
  readonly providerOf: (channelType: number) => Provider | null;
}

/** Whether any of these channels serves the mode of the endpoint itself. */
export const servedAsAsked = (
  channels: readonly ChannelView[],
  { providerOf }: ProviderPorts,
  { mode }: Pick<Endpoint, 'mode'>,
): boolean =>
  channels.some((channel) => {
    const provider = providerOf(channel.settings.type);
    return provider !== null && has(servingOf(channel, provider), mode);
  });

/** In one mode or the other. */
export const serves = (
  channel: ChannelView,
  provider: Provider | null,
  endpoint: Pick<Endpoint, 'mode' | 'inChat'>,
): boolean =>
  provider !== null &&
  (has(servingOf(channel, provider), endpoint.mode) ||
    (endpoint.inChat !== undefined && has(servingOf(channel, provider), 'chat')));

/** The request as this channel is asked. */
export const requestAt = (channel: ChannelView, provider: Provider, caller: CallerRequest): CallerRequest =>
  caller.inChat === undefined || has(servingOf(channel, provider), caller.mode) ? caller : caller.inChat();
