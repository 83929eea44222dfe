import { channelDecider, isLiveChannel } from '../../domain/channel/channel.js';
import { type ProviderTable, servesType } from '../../domain/channel/provider.js';
import { type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import type { ChannelView } from '../ports/storage-ports.js';

/* All channels, and what follows from them: which may serve a model for a group. Indexes are made when first asked for. */

export type PositionedChannel = ChannelView & { readonly position: Position };

/** A model that some serving channel has. */
export interface Offer {
  readonly model: string;
  /** That it is served for, sorted. */
  readonly groups: readonly string[];
  /** Of the first channel that has it. */
  readonly type: number;
}

export class ChannelIndex {
  private readonly byId: Map<ChannelId, PositionedChannel>;
  private byGroupAndModel: Map<string, ChannelView[]> | null = null;
  private everyModel: ReadonlySet<string> | null = null;
  private everyOffer: readonly Offer[] | null = null;

  constructor(
    channels: readonly PositionedChannel[],
    private readonly providers: ProviderTable,
  ) {
    this.byId = new Map(channels.map((channel) => [channel.id, channel]));
  }

  /** An event of a channel that is known as of later changes nothing. */
  take({ stream, event, position }: Recorded): void {
    const id = ChannelId(streamKey(stream));
    const known = this.byId.get(id);
    if (known !== undefined && known.position >= position) return;
    const folded = channelDecider.evolve(known ?? channelDecider.initial, event as never);
    if (!isLiveChannel(folded)) this.byId.delete(id);
    else {
      const { status, settings, secrets } = folded;
      this.byId.set(id, { id, status, settings, secrets, position });
    }
    this.byGroupAndModel = null;
    this.everyModel = null;
    this.everyOffer = null;
  }

  get(id: ChannelId): ChannelView | null {
    return this.byId.get(id) ?? null;
  }

  all(): PositionedChannel[] {
    return [...this.byId.values()];
  }

  /** Channels that calls can be sent through now. */
  serving(): ChannelView[] {
    return this.served().filter(({ status }) => status === 'enabled');
  }

  /** By priority, the highest first. */
  candidates(group: string, model: string): readonly ChannelView[] {
    this.byGroupAndModel ??= byGroupAndModel(this.serving());
    return this.byGroupAndModel.get(`${group}\n${model}`) ?? [];
  }

  hasModel(model: string): boolean {
    this.everyModel ??= new Set(this.served().flatMap(({ settings }) => settings.models));
    return this.everyModel.has(model);
  }

  /** Sorted; `groups` null: of all. */
  models(groups: readonly string[] | null): string[] {
    const found = new Set<string>();
    for (const { settings } of this.serving()) {
      if (groups !== null && !settings.groups.some((group) => groups.includes(group))) continue;
      for (const model of settings.models) found.add(model);
    }
    return [...found].sort();
  }

  offers(): readonly Offer[] {
    this.everyOffer ??= offersOf(this.serving());
    return this.everyOffer;
  }

  /** Channels that calls can be sent through as soon as they are switched on. */
  private served(): ChannelView[] {
    return [...this.byId.values()].filter(({ settings }) => servesType(this.providers, settings.type));
  }
}

function byGroupAndModel(channels: readonly ChannelView[]): Map<string, ChannelView[]> {
  const built = new Map<string, ChannelView[]>();
  for (const channel of channels) {
    for (const group of new Set(channel.settings.groups)) {
      for (const model of new Set(channel.settings.models)) {
        const key = `${group}\n${model}`;
        const found = built.get(key);
        if (found === undefined) built.set(key, [channel]);
        else found.push(channel);
      }
    }
  }
  for (const found of built.values()) found.sort((a, b) => b.settings.priority - a.settings.priority);
  return built;
}

function offersOf(channels: readonly ChannelView[]): Offer[] {
  const found = new Map<string, { readonly type: number; readonly groups: Set<string> }>();
  for (const { settings } of channels) {
    for (const model of settings.models) {
      const known = found.get(model) ?? { type: settings.type, groups: new Set<string>() };
      for (const group of settings.groups) known.groups.add(group);
      found.set(model, known);
    }
  }
  return [...found]
    .map(([model, { type, groups }]) => ({ model, type, groups: [...groups].sort() }))
    .sort((a, b) => (a.model < b.model ? -1 : 1));
}
