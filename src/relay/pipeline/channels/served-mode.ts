import type { ChannelView } from '../../../application/ports/storage-ports.js';
import type { Mode } from '../../../domain/channel/provider.js';
import type { Endpoint } from '../../contracts/endpoint.js';
import type { CallerRequest, Provider } from '../../contracts/protocol.js';
import type { ParsedChannel } from './channel-settings.js';

/* Whether a channel serves what is asked for, and in which mode: its own, or chat where it lacks that. */

type HasResponses = Pick<ParsedChannel, 'chatOnly' | 'responses'>;

interface ServingPorts {
  readonly providerOf: (channelType: number) => Provider | null;
  readonly parsedChannel: (channel: ChannelView) => HasResponses;
}

const has = (
  { settings }: ChannelView,
  { modes, lacks, responsesBySetting }: Pick<Provider, 'modes' | 'lacks' | 'responsesBySetting'>,
  { chatOnly, responses }: HasResponses,
  mode: Mode,
): boolean =>
  modes.includes(mode) &&
  !(mode === 'responses' && (chatOnly || (responsesBySetting === true && !responses))) &&
  lacks?.(mode, settings.baseUrl) !== true;

/** Every platform of tasks has requests of its own. `action`: null: any. */
const hasPlatform = (
  { tasks }: Pick<Provider, 'tasks'>,
  { task }: Pick<Endpoint, 'task'>,
  action: string | null = null,
): boolean =>
  task === undefined ||
  (tasks?.platform === task.platform && (action === null || tasks.offers === undefined || tasks.offers(action)));

/** Whether any of these channels serves the mode of the endpoint itself. */
export const servedAsAsked = (
  channels: readonly ChannelView[],
  { providerOf, parsedChannel }: ServingPorts,
  endpoint: Pick<Endpoint, 'task'> & { readonly mode: Mode },
): boolean =>
  channels.some((channel) => {
    const provider = providerOf(channel.settings.type);
    if (provider === null || !hasPlatform(provider, endpoint)) return false;
    return has(channel, provider, parsedChannel(channel), endpoint.mode);
  });

/** In one mode or the other. `action`: of a task; null: it is none. */
export function serves(
  channel: ChannelView,
  { providerOf, parsedChannel }: ServingPorts,
  endpoint: Pick<Endpoint, 'mode' | 'inChat' | 'task'>,
  action: string | null,
): boolean {
  const { mode, inChat } = endpoint;
  const provider = providerOf(channel.settings.type);
  if (provider === null || !hasPlatform(provider, endpoint, action)) return false;
  const parsed = parsedChannel(channel);
  return has(channel, provider, parsed, mode) || (inChat !== undefined && has(channel, provider, parsed, 'chat'));
}

/** The request as this channel is asked. */
export const requestAt = (
  channel: ChannelView,
  provider: Provider,
  parsed: HasResponses,
  caller: CallerRequest,
): CallerRequest =>
  caller.inChat === undefined || has(channel, provider, parsed, caller.mode) ? caller : caller.inChat();
