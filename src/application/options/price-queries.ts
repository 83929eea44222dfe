import { beginning, type Position } from '../../domain/events/events.js';
import { checkText } from '../../domain/kernel/bounds.js';
import { maxModelNameBytes } from '../../domain/kernel/names.js';
import type { PricePeriods } from '../../domain/pricing/model-price.js';
import type { Actor } from '../../domain/user/user.js';
import { type PriceChangeRow, priceChanges } from '../../projections/models/price-history.js';
import { authorise } from '../authorise.js';
import type { NodeDirectory } from '../memory/directory.js';
import { currentOf, type ReadingPorts } from '../viewer.js';

/* Records of the price table, and what has become of them. */

interface PriceQueryPorts extends ReadingPorts {
  readonly directory: Pick<NodeDirectory, 'changedPrices'>;
}

/** The record of a model as it is now. */
interface PriceRecordView {
  readonly model: string;
  /** null: the table says nothing of it; options and built-in prices do. */
  readonly periods: PricePeriods | null;
  /** Of its last change; `beginning`: there was none. */
  readonly position: Position;
}

interface PriceHistoryRequest {
  /** null: all models. */
  readonly model: string | null;
  /** The last change that is known; null: from the newest. */
  readonly before: { readonly position: Position; readonly model: string } | null;
  readonly first: number;
}

export function priceQueries({ directory, ...reading }: PriceQueryPorts) {
  const current = currentOf(reading);
  return {
    priceRecord(viewer: Actor, model: string): PriceRecordView {
      authorise(viewer, 'root');
      const { periods, position } = directory.changedPrices().get(model) ?? { periods: null, position: beginning };
      return { model, periods, position };
    },

    /** Newest first. */
    async priceHistory(
      viewer: Actor,
      { model, before, first }: PriceHistoryRequest,
    ): Promise<{ readonly items: readonly PriceChangeRow[]; readonly hasMore: boolean }> {
      authorise(viewer, 'root');
      if (model !== null) checkText('model', model, { max: maxModelNameBytes });
      const rows = await priceChanges(await current(), { model, before, max: first + 1 });
      return { items: rows.slice(0, first), hasMore: rows.length > first };
    },
  };
}
