import { type ChannelSecrets, channelDecider } from '../../domain/channel/channel.js';
import { type ChannelSettings, channelKeyIn, checkProxy } from '../../domain/channel/channel-settings.js';
import type { ProviderTable } from '../../domain/channel/provider.js';
import { latestOf, type Position, streams } from '../../domain/events/events.js';
import { checkText, searchText } from '../../domain/kernel/bounds.js';
import type { ChannelId, SecretId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import { inParallel } from '../in-parallel.js';
import type { Directory, Vault } from '../ports/storage-ports.js';
import { keyFactsOf } from './channel-secrets.js';
import { isSameProxy, storedProxy } from './stored-proxy.js';

/* Changes of channels that exist: of one, of many, of all with a tag. */

interface ChannelChangePorts {
  readonly handle: Handle;
  readonly directory: Directory;
}

export interface EditChannelPorts extends ChannelChangePorts {
  readonly vault: Vault;
  readonly providers: ProviderTable;
}

/** What an edit may change; a missing or undefined member stays as it is. */
export interface ChannelPatch {
  readonly settings: Partial<ChannelSettings>;
  readonly key?: string;
  /** Proxy address; '' removes it. */
  readonly proxy?: string;
  readonly enabled?: boolean;
}

/** Channels that carry the tag now. */
export function taggedChannels({ directory }: Pick<ChannelChangePorts, 'directory'>, tag: string): ChannelId[] {
  checkText('tag', tag, searchText);
  return directory
    .channels()
    .filter(({ settings }) => settings.tag === tag)
    .map(({ id }) => id);
}

/** The same order for many channels; the position after which all of it is visible. */
const forEach = async (
  channelIds: readonly ChannelId[],
  order: (id: ChannelId) => Promise<Position>,
): Promise<Position> => latestOf(await inParallel([...new Set(channelIds)], order));

async function switchChannel(
  { handle }: Pick<ChannelChangePorts, 'handle'>,
  actor: Actor,
  id: ChannelId,
  enabled: boolean,
): Promise<Position> {
  const by = actor.id;
  const { position } = await handle.by(actor)(
    channelDecider,
    streams.channel(id),
    enabled
      ? { type: 'EnableChannel', automatic: false, by }
      : { type: 'DisableChannel', automatic: false, reason: '', by },
  );
  return position;
}

const proxySecretOf = ({ directory }: EditChannelPorts, id: ChannelId): SecretId | null =>
  directory.channel(id)?.secrets.proxy ?? null;

/** The proxy address where it is not the one that the channel has. Throws as `checkProxy`. */
async function changedProxy(
  ports: EditChannelPorts,
  id: ChannelId,
  proxy: string | undefined,
): Promise<string | undefined> {
  if (proxy === undefined || isSameProxy(proxy, await storedProxy(ports, id))) return undefined;
  checkProxy(proxy);
  return proxy;
}

/** Puts into the vault what is new. */
async function changedSecrets(
  ports: EditChannelPorts,
  id: ChannelId,
  patch: ChannelPatch,
): Promise<Partial<ChannelSecrets>> {
  const { vault, directory, providers } = ports;
  const newProxy = await changedProxy(ports, id, patch.proxy);
  const secrets: { -readonly [Member in keyof ChannelSecrets]?: ChannelSecrets[Member] } = {};
  if (patch.key !== undefined) {
    const type = patch.settings.type ?? directory.channel(id)?.settings.type;
    const key = channelKeyIn(patch.key, keyFactsOf(providers, type));
    secrets.key = await vault.put(key);
    secrets.keyHash = vault.hash(key);
  }
  if (newProxy !== undefined) secrets.proxy = newProxy === '' ? null : await vault.put(newProxy);
  return secrets;
}

async function applyPatch(
  ports: EditChannelPorts,
  actor: Actor,
  id: ChannelId,
  patch: ChannelPatch,
): Promise<Position> {
  const { handle, directory, providers } = ports;
  const secrets = await changedSecrets(ports, id, patch);
  const { position } = await handle.by(actor)(channelDecider, streams.channel(id), {
    type: 'EditChannel',
    patch: patch.settings,
    secrets,
    providers,
    keyMayFollow: actor.role === 'root' && directory.settings().flag('RootKeepsChannelKeys'),
    by: actor.id,
  });
  if (patch.enabled === undefined) return position;
  const switched = await switchChannel(ports, actor, id, patch.enabled);
  return switched > position ? switched : position;
}

export async function editChannel(
  ports: EditChannelPorts,
  actor: Actor,
  id: ChannelId,
  patch: ChannelPatch,
): Promise<Position> {
  authorise(actor, 'admin');
  return applyPatch(ports, actor, id, patch);
}

export async function editChannels(
  ports: EditChannelPorts,
  actor: Actor,
  channelIds: readonly ChannelId[],
  patch: ChannelPatch,
): Promise<Position> {
  authorise(actor, 'admin');
  // Read together; one by one they are then found in memory.
  if (patch.proxy !== undefined) await ports.vault.getMany(channelIds.flatMap((id) => proxySecretOf(ports, id) ?? []));
  return forEach(channelIds, (id) => applyPatch(ports, actor, id, patch));
}

export async function editTaggedChannels(
  ports: EditChannelPorts,
  actor: Actor,
  tag: string,
  patch: ChannelPatch,
): Promise<Position> {
  authorise(actor, 'admin');
  return editChannels(ports, actor, taggedChannels(ports, tag), patch);
}

export async function setChannelEnabled(
  ports: ChannelChangePorts,
  actor: Actor,
  id: ChannelId,
  enabled: boolean,
): Promise<Position> {
  authorise(actor, 'admin');
  return switchChannel(ports, actor, id, enabled);
}

export async function setTagEnabled(
  ports: ChannelChangePorts,
  actor: Actor,
  tag: string,
  enabled: boolean,
): Promise<Position> {
  authorise(actor, 'admin');
  return forEach(taggedChannels(ports, tag), (id) => switchChannel(ports, actor, id, enabled));
}

/** Removing what is not there is no error. */
export async function removeChannels(
  { handle }: Pick<ChannelChangePorts, 'handle'>,
  actor: Actor,
  channelIds: readonly ChannelId[],
): Promise<Position> {
  authorise(actor, 'admin');
  return forEach(channelIds, async (id) => {
    const { position } = await handle.by(actor)(channelDecider, streams.channel(id), {
      type: 'RemoveChannel',
      by: actor.id,
    });
    return position;
  });
}

/** Removes every channel that is switched off, by hand or automatically. */
export async function removeDisabledChannels(
  ports: ChannelChangePorts,
  actor: Actor,
): Promise<{ ids: ChannelId[]; removed: number; position: Position }> {
  authorise(actor, 'admin');
  const disabled = ports.directory.channels().filter(({ status }) => status !== 'enabled');
  const channelIds = disabled.map(({ id }) => id);
  const position = await removeChannels(ports, actor, channelIds);
  return { ids: channelIds, removed: channelIds.length, position };
}
