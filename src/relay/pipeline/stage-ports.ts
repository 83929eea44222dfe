import type { ChannelView } from '../../application/ports/storage-ports.js';
import type { BodyRoom } from '../../http/body-room.js';
import type { PlacesPerUser } from '../admission/places-per-user.js';
import type { RelayPorts } from '../contracts/ports.js';
import type { Heartbeats } from '../delivery/heartbeats.js';
import type { StalledCallers } from '../delivery/stalled-callers.js';
import type { ParsedChannel } from './channels/channel-settings.js';
import type { LeftChannels } from './channels/left-channels.js';
import type { ComparedMessages } from './kept/compared-messages.js';
import type { HeldFiles } from './tasks/held-files.js';

/** What the stages of a call work with: what the relay is given, and what all its calls share. */
export interface StagePorts extends RelayPorts {
  readonly parsedChannel: (channel: ChannelView) => ParsedChannel;
  readonly stalledCallers: StalledCallers;
  readonly heartbeats: Heartbeats;
  readonly leftChannels: LeftChannels;
  readonly comparedMessages: ComparedMessages;
  /** For conversations that are held until their responses are stored. */
  readonly conversationRoom: BodyRoom;
  readonly heldFiles: HeldFiles;
  /** Videos that are sent to whoever has their signed address. */
  readonly signedDownloads: PlacesPerUser;
}
