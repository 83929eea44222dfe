import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { type AddChannelPorts, addChannels, type NewChannels } from './add-channels.js';
import {
  type ChannelPatch,
  type EditChannelPorts,
  editChannel,
  editChannels,
  editTaggedChannels,
  removeChannels,
  removeDisabledChannels,
  setChannelEnabled,
  setTagEnabled,
  taggedChannels,
} from './edit-channels.js';

type ChannelCommandPorts = AddChannelPorts & EditChannelPorts;

export const channelCommands = (ports: ChannelCommandPorts) => ({
  add: (actor: Actor, input: NewChannels) => addChannels(ports, actor, input),
  edit: (actor: Actor, id: ChannelId, patch: ChannelPatch) => editChannel(ports, actor, id, patch),
  editMany: (actor: Actor, ids: readonly ChannelId[], patch: ChannelPatch) => editChannels(ports, actor, ids, patch),
  editTag: (actor: Actor, tag: string, patch: ChannelPatch) => editTaggedChannels(ports, actor, tag, patch),
  setEnabled: (actor: Actor, id: ChannelId, enabled: boolean) => setChannelEnabled(ports, actor, id, enabled),
  setTagEnabled: (actor: Actor, tag: string, enabled: boolean) => setTagEnabled(ports, actor, tag, enabled),
  remove: (actor: Actor, ids: readonly ChannelId[]) => removeChannels(ports, actor, ids),
  tagged: (tag: string) => taggedChannels(ports, tag),
  removeDisabled: (actor: Actor) => removeDisabledChannels(ports, actor),
});
