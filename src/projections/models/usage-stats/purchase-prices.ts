import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { CallRefunded, CallSettled } from '../../../domain/call/call.js';
import { type Position, type Recorded, type StreamName, streamKey } from '../../../domain/events/events.js';
import { type Decimal, integer, quotient } from '../../../domain/kernel/decimal.js';
import { Failure } from '../../../domain/kernel/failure.js';
import { ChannelId } from '../../../domain/kernel/ids.js';
import {
  type PurchasePrices,
  purchaseCost,
  purchasePriceOf,
  purchasePricesAlone,
  purchasePricesIn,
  statedCost,
} from '../../../domain/pricing/purchase-price.js';
import type { ReadModels } from '../../database.js';
import { insertRows } from '../../engine/multi-row.js';
import type { FoldContext } from '../../engine/projection.js';
import { costPlaces } from './usage-sums.js';

/* What channels charged the operator, and since when, so that the cost of a call is known when it is counted. */

export interface PurchasePriceTables {
  usage_stats_purchase_prices: {
    channel_id: ChannelId;
    /** Of the event since which they hold. */
    position: Position;
    /** A setting that says them and nothing else. */
    prices: string;
  };
}

export const tablesOfPurchasePrices = `
  create table usage_stats_purchase_prices (
    channel_id bigint not null, position bigint not null, prices text not null, primary key (channel_id, position)
  );
`;

type PriceRow = PurchasePriceTables['usage_stats_purchase_prices'];

/** Of a channel without prices, which had some before. */
const none = '{}';

/** Read once, however many batches there are: by their text. */
const read = new LRUCache<string, PurchasePrices>({
  max: 500,
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: (_, text) => text.length + 1,
});

function pricesIn(text: string): PurchasePrices {
  const known = read.get(text);
  if (known !== undefined) return known;
  const prices = purchasePricesIn(text);
  read.set(text, prices);
  return prices;
}

/** In the unit of the tables. */
const inUnits = (dollars: Decimal | null): bigint | null =>
  dollars === null ? null : quotient(dollars, integer(1), costPlaces).digits;

/** What the event itself says of a call that it changes. */
interface ChangedCall extends Pick<CallRefunded, 'facts'> {
  readonly settlement: Pick<CallRefunded['settlement'], 'channelId' | 'usage'>;
}

/** What calls of a batch cost. Gateways without purchase prices pay no statement for it. */
export class CallCosts {
  /** What holds now; undefined: nothing. */
  private readonly prices = new Map<ChannelId, string>();
  private readonly changes: PriceRow[] = [];
  private batch: readonly Recorded[] = [];

  constructor(
    private readonly tx: ReadModels,
    private readonly readStream: FoldContext['readStream'],
    private hasPrices: boolean,
  ) {}

  /** Reads the prices that held before the batch. */
  async open(batch: readonly Recorded[]): Promise<void> {
    this.batch = batch;
    if (!this.hasPrices) return;
    const channels = new Set<ChannelId>();
    for (const { event, stream } of batch)
      if (event.type === 'CallSettled') channels.add(event.channelId);
      else if (event.type === 'ChannelAdded' || event.type === 'ChannelEdited')
        channels.add(ChannelId(streamKey(stream)));
    if (channels.size === 0) return;
    const rows = await this.tx
      .selectFrom('usage_stats_purchase_prices')
      .distinctOn('channel_id')
      .select(['channel_id', 'prices'])
      .where(sql<boolean>`channel_id = any(${[...channels]}::bigint[])`)
      .orderBy('channel_id')
      .orderBy('position', 'desc')
      .execute();
    for (const { channel_id, prices } of rows) this.prices.set(channel_id, prices);
  }

  /** A channel's setting says so from `position` on. */
  priced(channelId: ChannelId, setting: string | null, position: Position): void {
    const prices = purchasePricesAlone(setting) ?? none;
    if (prices === (this.prices.get(channelId) ?? none)) return;
    this.prices.set(channelId, prices);
    this.changes.push({ channel_id: channelId, position, prices });
    this.hasPrices = true;
  }

  /** null: nobody knows. */
  of(call: CallSettled): bigint | null {
    const prices = this.prices.get(call.channelId);
    return inUnits(statedCost(call.upstreamCost) ?? (prices === undefined ? null : costBy(prices, call)));
  }

  /** Whether that of a call that is taken back was known when it was settled. */
  async wereKnown(stream: StreamName, refund: ChangedCall, position: Position): Promise<boolean> {
    for (const { event, position } of await this.eventsOf(stream)) {
      if (event.type !== 'CallSettled') continue;
      if (statedCost(event.upstreamCost) !== null) return true;
      const prices = await this.pricesAt(event.channelId, position);
      return prices !== null && costBy(prices, event) !== null;
    }
    // Its settlement is in an archive: what the refund itself says of it has to do.
    const { settlement, facts } = refund;
    const prices = await this.pricesAt(settlement.channelId, position);
    return prices !== null && costBy(prices, { facts, usage: settlement.usage, upstreamModel: null }) !== null;
  }

  /** An answer that is withheld is settled just before, which is often in the same batch. */
  private async eventsOf(stream: StreamName): Promise<readonly Recorded[]> {
    const own = this.batch.filter((recorded) => recorded.stream === stream && recorded.event.type === 'CallSettled');
    if (own.length > 0) return own;
    try {
      return await this.readStream(stream);
    } catch (error) {
      if (error instanceof Failure && error.code === 'log-archived') return [];
      throw error;
    }
  }

  /** Writes what has changed; whether there is, or was, any price. */
  async write(): Promise<boolean> {
    await insertRows(this.tx, 'usage_stats_purchase_prices', this.changes);
    return this.hasPrices;
  }

  private async pricesAt(channelId: ChannelId, position: Position): Promise<string | null> {
    const changed = this.changes.findLast((row) => row.channel_id === channelId && row.position <= position);
    if (changed !== undefined || !this.hasPrices) return changed?.prices ?? null;
    const row = await this.tx
      .selectFrom('usage_stats_purchase_prices')
      .select('prices')
      .where('channel_id', '=', channelId)
      .where('position', '<=', position)
      .orderBy('position', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row?.prices ?? null;
  }
}

function costBy(
  text: string,
  { usage, facts, upstreamModel }: Pick<CallSettled, 'usage' | 'facts' | 'upstreamModel'>,
): Decimal | null {
  const price = purchasePriceOf(pricesIn(text), { upstreamModel, model: facts.model });
  return price === null ? null : purchaseCost(usage, price);
}
