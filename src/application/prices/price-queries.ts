import type { Position } from '../../domain/events/events.js';
import { checkText, searchText } from '../../domain/kernel/bounds.js';
import { invalidField } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { Instant, unixSeconds } from '../../domain/kernel/instant.js';
import type { PriceChangeOrigin } from '../../domain/options/option.js';
import { type RecordDifference, recordDifferences } from '../../domain/pricing/records/record-differences.js';
import type { Actor } from '../../domain/user/user.js';
import type { Page } from '../../projections/engine/page.js';
import { type PriceChangeCursor, type PriceChangeRow, priceChanges } from '../../projections/models/price-history.js';
import { unpricedCalls } from '../../projections/models/usage-log/unpriced-calls.js';
import { authorise } from '../authorise.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { Clock } from '../ports/storage-ports.js';
import { currentOf, type ReadingPorts } from '../viewer.js';
import { type PriceProposal, proposalOf } from './price-editing.js';
import { type PriceTableRequest, type PriceTableRow, priceTablePage } from './price-table.js';

/* The price table with what has become of it, and the way back. */

interface PriceQueryPorts extends ReadingPorts {
  readonly directory: NodeDirectory;
  readonly clock: Clock;
}

/** One model of one change. */
export interface PriceChange {
  readonly position: Position;
  readonly model: string;
  readonly at: Instant;
  /** null: nobody, a source of prices was applied by itself. */
  readonly by: UserId | null;
  readonly origin: PriceChangeOrigin;
  readonly differences: readonly RecordDifference[];
  /** There was a record before, and is one after it. */
  readonly hadRecord: boolean;
  readonly hasRecord: boolean;
}

interface PriceHistoryRequest {
  /** null: of all models. */
  readonly model: string | null;
  /** null: from the newest. */
  readonly before: PriceChangeCursor | null;
  readonly first: number;
}

const refusedDaysMs = 7 * 24 * 60 * 60 * 1000;
const refusedRange = { maxLines: 20_000, maxModels: 500 };
/** Of one change. */
const maxReverted = 1_000;

const changeOf = ({ position, model, at, by_user, origin, periods, before }: PriceChangeRow): PriceChange => ({
  ...{ position, model, at, by: by_user, origin },
  differences: recordDifferences(before, periods),
  hadRecord: before !== null,
  hasRecord: periods !== null,
});

export function priceQueries({ directory, clock, ...reading }: PriceQueryPorts) {
  const current = currentOf(reading);

  return {
    async priceTable(viewer: Actor, request: PriceTableRequest): Promise<Page<PriceTableRow>> {
      authorise(viewer, 'root-reading');
      checkText('search', request.search, searchText);
      const since = unixSeconds(Instant(clock.now() - refusedDaysMs));
      const refused = await unpricedCalls(await current(), { since, ...refusedRange });
      return priceTablePage(directory, request, new Map(refused.map(({ model, calls }) => [model, calls])));
    },

    /** Newest first. */
    async priceHistory(
      viewer: Actor,
      { model, before, first }: PriceHistoryRequest,
    ): Promise<{ readonly items: readonly PriceChange[]; readonly hasMore: boolean }> {
      authorise(viewer, 'root-reading');
      if (model !== null) checkText('model', model, searchText);
      const rows = await priceChanges(await current(), { model, before, max: first + 1 });
      return { items: rows.slice(0, first).map(changeOf), hasMore: rows.length > first };
    },

    /** Throws `invalid-field` where no change of prices has this position. */
    async checkPriceChange(viewer: Actor, field: string, position: Position): Promise<void> {
      authorise(viewer, 'root-reading');
      const rows = await priceChanges(await current(), { model: null, before: null, at: position, max: 1 });
      if (rows.length === 0) throw invalidField(field, 'the position of a change of prices');
    },

    /** What would take back the change at this place: of all its models, or of one. Throws `invalid-field`. */
    async priceRevert(viewer: Actor, position: Position, model: string | null): Promise<readonly PriceProposal[]> {
      authorise(viewer, 'root-reading');
      const rows = await priceChanges(await current(), { model, before: null, at: position, max: maxReverted });
      if (rows.length === 0) throw invalidField('position', 'the position of a change of prices');
      return rows.map((row) => proposalOf(directory, row.model, row.before));
    },
  };
}
