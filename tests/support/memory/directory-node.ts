import type { ChangedOption, ChangedPrice } from '../../../src/application/memory/changed-options.js';
import { type DirectorySource, type NodeDirectory, openDirectory } from '../../../src/application/memory/directory.js';
import type { ChannelView } from '../../../src/application/ports/storage-ports.js';
import type { DefaultPrices } from '../../../src/application/prices/default-prices.js';
import { type ChannelEvent, channelDecider, isLiveChannel } from '../../../src/domain/channel/channel.js';
import type { ChannelSettings } from '../../../src/domain/channel/channel-settings.js';
import {
  beginning,
  type DomainEvent,
  type Position,
  type Recorded,
  type StreamName,
  streamKey,
  streams,
} from '../../../src/domain/events/events.js';
import { ApiKeyId, ChannelId, Sealed, SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { OptionValue } from '../../../src/domain/options/option.js';
import { apiKeyTerms } from '../given/api-key-terms.js';
import { channelSettings } from '../given/channel-settings.js';
import { eventId, someInstant } from '../given/events.js';
import { noPrices } from '../given/no-prices.js';
import { testProviders } from '../given/providers.js';
import { dense, MemoryEventStore } from './memory-event-store.js';

export const prices: DefaultPrices = { ...noPrices, modelRatio: new Map([['gpt-4o', '1.25']]) };

const alice = UserId(7);

/** A log, the read models as far behind it as a test wants them, and a tail that moves by hand. */
export class DirectoryNode implements DirectorySource {
  readonly store = new MemoryEventStore(dense);
  /** How far the read models have come; -1: nothing. Rows of channels can be further. */
  readModelsAt = beginning;
  channelRowsAt: Position | null = null;
  lookUps = 0;
  /** Happens between a look-up and its answer. */
  meanwhile: () => Promise<void> = async () => {};
  private appended = 0;
  private handedOver = beginning;

  async append(stream: StreamName, event: DomainEvent): Promise<void> {
    await this.store.append(stream, [{ id: eventId(this.appended++), at: someInstant, event }], 'any');
  }

  /** The read models come up to the log. */
  async project(): Promise<void> {
    this.readModelsAt = await this.store.head();
  }

  async open(capacity = 100): Promise<NodeDirectory> {
    const directory = await openDirectory({
      store: this.store,
      source: this,
      prices,
      at: someInstant,
      providers: testProviders,
      capacity,
    });
    this.handedOver = directory.position;
    return directory;
  }

  /** The tail brings everything there is. */
  async deliver(directory: NodeDirectory): Promise<void> {
    const batch = await this.store.readAll(this.handedOver, 1_000);
    if (batch.length > 0) directory.take(batch);
    this.handedOver = await this.store.head();
  }

  async snapshot() {
    const channels = new Map<ChannelId, ChannelView & { position: Position }>();
    const options = new Map<string, ChangedOption>();
    const prices = new Map<string, ChangedPrice>();
    for (const { stream, event, position } of await this.upTo(this.channelRowsAt ?? this.readModelsAt)) {
      if (!stream.startsWith('channel-')) continue;
      const id = ChannelId(streamKey(stream));
      const folded = channelDecider.evolve(channels.get(id) ?? channelDecider.initial, event as ChannelEvent);
      if (isLiveChannel(folded)) channels.set(id, { ...folded, id, position });
      else channels.delete(id);
    }
    for (const { event, position } of await this.upTo(this.readModelsAt))
      if (event.type === 'OptionChanged') options.set(event.key, { value: event.value, position });
      else if (event.type === 'ModelPricesChanged')
        for (const { model, periods } of event.changes) prices.set(model, { periods, position });
    return { channels: [...channels.values()], options, prices, position: this.readModelsAt };
  }

  async apiKeyIdByHash(keyHash: string): Promise<ApiKeyId | null> {
    this.lookUps += 1;
    const issued = (await this.upTo(this.readModelsAt)).find(
      ({ event }) => event.type === 'ApiKeyIssued' && event.keyHash === keyHash,
    );
    await this.meanwhile();
    return issued === undefined ? null : ApiKeyId(streamKey(issued.stream));
  }

  private async upTo(position: Position): Promise<readonly Recorded[]> {
    return (await this.store.readAll(beginning, 1_000)).filter((recorded) => recorded.position <= position);
  }

  /* ---- what happens ---- */

  channel(id: number, event: ChannelEvent): Promise<void> {
    return this.append(streams.channel(ChannelId(id)), event);
  }

  addChannel(id: number, changed: Partial<ChannelSettings> = {}): Promise<void> {
    const secrets = { key: SecretId(`key-${id}`), keyHash: `hash-${id}`, proxy: null };
    return this.channel(id, { type: 'ChannelAdded', settings: channelSettings(changed), secrets });
  }

  editChannel(id: number, changed: Partial<ChannelSettings>): Promise<void> {
    const secrets = { key: SecretId(`key-${id}`), keyHash: `hash-${id}`, proxy: null };
    return this.channel(id, { type: 'ChannelEdited', settings: channelSettings(changed), secrets });
  }

  option(key: string, value: string | OptionValue): Promise<void> {
    const given = typeof value === 'string' ? { text: value } : value;
    return this.append(streams.options, { type: 'OptionChanged', key, value: given });
  }

  issueKey(id: number, keyHash: string): Promise<void> {
    const secret = SecretId(`api-key-${id}`);
    const event = {
      type: 'ApiKeyIssued',
      owner: alice,
      keyHash,
      secret,
      quota: Quota(500),
      terms: apiKeyTerms(),
    } as const;
    return this.append(streams.apiKey(ApiKeyId(id)), event);
  }

  register(user: UserId): Promise<void> {
    return this.append(streams.user(user), {
      type: 'UserRegistered',
      username: 'alice',
      displayName: Sealed('sealed'),
      role: 'ordinary',
      group: 'default',
      passwordSecret: null,
      inviter: null,
    });
  }
}
