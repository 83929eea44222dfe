import type { Usage } from '../../domain/call/usage.js';
import { type Position, streams } from '../../domain/events/events.js';
import type { Decimal } from '../../domain/kernel/decimal.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import {
  type PurchasePrice,
  type PurchasePrices,
  purchaseCost,
  purchasePriceOf,
  purchasePricesIn,
  statedCost,
} from '../../domain/pricing/purchase-price.js';
import type { EventStore } from '../ports/storage-ports.js';

/* What calls have cost the operator: as upstream said, else by the purchase price that the channel had at that time. */

interface Known {
  /** The channel's settings when its history was read; undefined: nobody said. */
  readonly settings: unknown;
  readonly history: Promise<readonly PricesSince[]>;
}

interface PricesSince {
  readonly position: Position;
  readonly prices: PurchasePrices;
}

export interface CallCost {
  /** US dollars; null: nobody knows. */
  readonly cost: Decimal | null;
  /** By which it is that; null: upstream said so, or nobody knows. */
  readonly price: PurchasePrice | null;
}

/** A call that was answered. */
interface Priced {
  readonly channelId: ChannelId;
  readonly model: string;
  readonly upstreamModel: string | null;
  readonly usage: Usage;
  /** As `CallSettled` has it. */
  readonly upstreamCost?: string | null | undefined;
}

const maxChannels = 1_000;

const unknown: CallCost = { cost: null, price: null };

/** Remembers the prices of each channel that it was asked about. */
export class PurchaseCosts {
  private readonly known = new Map<ChannelId, Known>();

  /**
   * `settingsOf`: of a channel as it is, by whose identity it is known that nobody has edited it since; undefined: it stays
   * as it was when it was first asked about.
   */
  constructor(
    private readonly store: Pick<EventStore, 'streamPages'>,
    private readonly settingsOf: (channelId: ChannelId) => object | undefined = () => undefined,
  ) {}

  /** `position`: of the settlement. */
  async of(call: Priced, position: Position): Promise<CallCost> {
    const stated = statedCost(call.upstreamCost);
    if (stated !== null) return { cost: stated, price: null };
    const history = await this.historyOf(call.channelId);
    const prices = history.findLast((since) => since.position <= position)?.prices;
    const price = prices === undefined ? null : purchasePriceOf(prices, call);
    return price === null ? unknown : { cost: purchaseCost(call.usage, price), price };
  }

  private async historyOf(channelId: ChannelId): Promise<readonly PricesSince[]> {
    const settings = this.settingsOf(channelId);
    const known = this.known.get(channelId);
    if (known !== undefined && (settings === undefined || settings === known.settings)) return known.history;
    if (this.known.size >= maxChannels) this.known.clear();
    const history = this.read(channelId);
    this.known.set(channelId, { settings, history });
    // What could not be read is read again.
    history.catch(() => this.known.delete(channelId));
    return history;
  }

  private async read(channelId: ChannelId): Promise<readonly PricesSince[]> {
    const history: PricesSince[] = [];
    let setting: string | null = null;
    for await (const page of this.store.streamPages(streams.channel(channelId)))
      for (const { event, position } of page) {
        if (event.type !== 'ChannelAdded' && event.type !== 'ChannelEdited') continue;
        if (event.settings.setting === setting) continue;
        setting = event.settings.setting;
        history.push({ position, prices: purchasePricesIn(setting) });
      }
    return history;
  }
}
