import { sql } from 'kysely';
import type { Position } from '../../domain/events/events.js';
import type { Moment } from '../../domain/events/moment.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { ModelPricesChanged, PriceChangeOrigin } from '../../domain/options/option.js';
import type { PricePeriods } from '../../domain/pricing/records/model-price.js';
import type { ReadModels } from '../database.js';
import { insertRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';

/* What has become of the price table: who changed which record, when, and to what. The newest row of a model is in force. */

export interface PriceHistoryTables {
  price_change: {
    position: Position;
    model: string;
    at: Instant;
    /** null: nobody, a source of prices was applied by itself. */
    by_user: UserId | null;
    /** JSON of the origin. */
    origin: string;
    /** JSON of the record; null: it was taken out. */
    periods: string | null;
  };
}

const tables = `
  create table price_change (
    position bigint not null,
    model text not null,
    at bigint not null,
    by_user bigint,
    origin text not null,
    periods text,
    primary key (model, position)
  );
  create index on price_change (position);
`;

export const priceHistory = projection<ModelPricesChanged>({
  name: 'price_history',
  version: 1,
  purpose: 'deciding',
  tables,
  interestedIn: { ModelPricesChanged: true },
  async project(tx, batch) {
    const rows = batch.flatMap(({ event: { changes, origin, by }, position, at }) =>
      changes.map(({ model, periods }) => ({
        position,
        model,
        at,
        by_user: by ?? null,
        origin: JSON.stringify(origin),
        periods: periods === null ? null : JSON.stringify(periods),
      })),
    );
    await insertRows(tx, 'price_change', rows);
  },
});

interface RecordedPeriods {
  readonly model: string;
  /** null: the record was taken out. */
  readonly periods: PricePeriods | null;
  readonly position: Position;
}

const periodsIn = (text: string | null): PricePeriods | null =>
  text === null ? null : (JSON.parse(text) as PricePeriods);

/** The newest of each model. */
export async function allPriceRecords(db: ReadModels): Promise<RecordedPeriods[]> {
  const rows = await db
    .selectFrom('price_change')
    .distinctOn('model')
    .select(['model', 'periods', 'position'])
    .orderBy('model')
    .orderBy('position', 'desc')
    .execute();
  return rows.map(({ periods, ...row }) => ({ ...row, periods: periodsIn(periods) }));
}

/** What the record of each model that has or had one was changed to last by then. */
export async function priceRecordsAt(
  db: ReadModels,
  moment: Moment,
): Promise<(RecordedPeriods & Pick<PriceChangeRow, 'at' | 'by_user'>)[]> {
  const changed = db
    .selectFrom('price_change')
    .distinctOn('model')
    .select(['model', 'periods', 'position', 'at', 'by_user'])
    .orderBy('model');
  const found =
    'at' in moment
      ? changed.where('at', '<=', moment.at).orderBy('at', 'desc').orderBy('position', 'desc')
      : changed.where('position', '<=', moment.position).orderBy('position', 'desc');
  return (await found.execute()).map(({ periods, ...row }) => ({ ...row, periods: periodsIn(periods) }));
}

export interface PriceChangeRow extends RecordedPeriods {
  readonly at: Instant;
  /** null: nobody, a source of prices was applied by itself. */
  readonly by_user: UserId | null;
  readonly origin: PriceChangeOrigin;
  /** What was in force before; null: no record of this model. */
  readonly before: PricePeriods | null;
}

/** Place in the history, which is sorted by position, newest first, then by model. */
export interface PriceChangeCursor {
  readonly position: Position;
  readonly model: string;
}

interface PriceChangeRange {
  /** null: of all models. */
  readonly model: string | null;
  /** Only what is older; null: from the newest. */
  readonly before: PriceChangeCursor | null;
  /** Only of this change; left out: of any. */
  readonly at?: Position;
  readonly max: number;
}

/** Newest first. */
export async function priceChanges(
  db: ReadModels,
  { model, before, at, max }: PriceChangeRange,
): Promise<PriceChangeRow[]> {
  let found = db
    .selectFrom('price_change as change')
    .leftJoinLateral(
      (last) =>
        last
          .selectFrom('price_change as earlier')
          .select('earlier.periods')
          .whereRef('earlier.model', '=', 'change.model')
          .whereRef('earlier.position', '<', 'change.position')
          .orderBy('earlier.position', 'desc')
          .limit(1)
          .as('before'),
      (join) => join.onTrue(),
    )
    .select(['change.position', 'change.model', 'change.at', 'change.by_user', 'change.origin', 'change.periods'])
    .select('before.periods as periods_before');
  if (model !== null) found = found.where('change.model', '=', model);
  if (at !== undefined) found = found.where('change.position', '=', at);
  if (before !== null)
    found = found.where((where) =>
      where.or([
        where('change.position', '<', before.position),
        where.and([where('change.position', '=', before.position), where('change.model', '>', before.model)]),
      ]),
    );
  const rows = await found.orderBy('change.position', 'desc').orderBy('change.model').limit(max).execute();
  return rows.map(({ origin, periods, periods_before, ...row }) => ({
    ...row,
    origin: JSON.parse(origin) as PriceChangeOrigin,
    periods: periodsIn(periods),
    before: periodsIn(periods_before),
  }));
}

/** By model, where its present record came from; not those that were taken out. */
export async function priceRecordOrigins(db: ReadModels): Promise<ReadonlyMap<string, PriceChangeOrigin>> {
  const rows = await db
    .selectFrom('price_change')
    .distinctOn('model')
    .select(['model', 'origin', sql<boolean>`periods is not null`.as('is_there')])
    .orderBy('model')
    .orderBy('position', 'desc')
    .execute();
  const there = rows.filter(({ is_there: isThere }) => isThere);
  return new Map(there.map(({ model, origin }) => [model, JSON.parse(origin) as PriceChangeOrigin]));
}

/** By model, the last record that somebody has picked; null: it was taken out. None of those applied by itself counts. */
export async function approvedPriceRecords(db: ReadModels): Promise<ReadonlyMap<string, PricePeriods | null>> {
  const rows = await db
    .selectFrom('price_change')
    .distinctOn('model')
    .select(['model', 'periods'])
    .where(sql<boolean>`(origin::jsonb -> 'unasked') is null`)
    .orderBy('model')
    .orderBy('position', 'desc')
    .execute();
  return new Map(rows.map(({ model, periods }) => [model, periodsIn(periods)]));
}
