import type { ChannelView } from '../../application/ports/storage-ports.js';
import type { BodyRoom } from '../../http/body-room.js';
import type { PlacesPerUser } from '../admission/places-per-user.js';
import type { RelayPorts } from '../contracts/ports.js';
import type { Heartbeats } from '../delivery/heartbeats.js';
import type { StalledCallers } from '../delivery/stalled-callers.js';
import type { ParsedChannel } from './channel-settings.js';
import type { ComparedMessages } from './compared-messages.js';
import type { HeldFiles } from './held-files.js';
import type { LeftChannels } from './left-channels.js';

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
