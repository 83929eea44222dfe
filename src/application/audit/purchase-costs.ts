import type { CallSettled } from '../../domain/call/call.js';
import { type Position, streams } from '../../domain/events/events.js';
import { type Decimal, decimal, isDecimal } from '../../domain/kernel/decimal.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import {
  type PurchasePrice,
  type PurchasePrices,
  purchaseCost,
  purchasePriceOf,
  purchasePricesIn,
} from '../../domain/pricing/purchase-price.js';
import type { EventStore } from '../ports/storage-ports.js';

/* What calls have cost the operator: as upstream said, else by the purchase price that the channel had at that time. */

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

type Priced = Pick<CallSettled, 'facts' | 'channelId' | 'upstreamModel' | 'usage' | 'upstreamCost'>;

const unknown: CallCost = { cost: null, price: null };

/** Remembers the prices of each channel that it was asked about, as of when that was. */
export class PurchaseCosts {
  private readonly known = new Map<ChannelId, readonly PricesSince[]>();

  constructor(private readonly store: Pick<EventStore, 'streamPages'>) {}

  /** `position`: of the settlement. */
  async of(call: Priced, position: Position): Promise<CallCost> {
    const { upstreamCost } = call;
    if (upstreamCost !== undefined && isDecimal(upstreamCost)) return { cost: decimal(upstreamCost), price: null };
    const history = this.known.get(call.channelId) ?? (await this.historyOf(call.channelId));
    const prices = history.findLast((since) => since.position <= position)?.prices;
    const price = prices === undefined ? null : purchasePriceOf(prices, { ...call, model: call.facts.model });
    return price === null ? unknown : { cost: purchaseCost(call.usage, price), price };
  }

  private async historyOf(channelId: ChannelId): Promise<readonly PricesSince[]> {
    const history: PricesSince[] = [];
    let setting: string | null = null;
    for await (const page of this.store.streamPages(streams.channel(channelId)))
      for (const { event, position } of page) {
        if (event.type !== 'ChannelAdded' && event.type !== 'ChannelEdited') continue;
        if (event.settings.setting === setting) continue;
        setting = event.settings.setting;
        history.push({ position, prices: purchasePricesIn(setting) });
      }
    this.known.set(channelId, history);
    return history;
  }
}
