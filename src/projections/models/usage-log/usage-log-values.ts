import { sql } from 'kysely';
import type { ReadModels } from '../../database.js';
import { arrayOf, type ColumnType, type ColumnValues } from '../../engine/column-arrays.js';
import { putNewRows } from '../../engine/multi-row.js';
import type { UsageLogRow } from './usage-log.js';

/* Which values lines have, and which of them together; what for, `narrowed-filter.ts` tells. */

/** What lines of one series have in common. */
export type SeriesLabels = Pick<
  UsageLogRow,
  'user_id' | 'api_key_id' | 'channel_id' | 'type' | 'model' | 'group' | 'api_key_name'
>;

export interface UsageLogValues {
  /** Lines of it may be gone; there is none with other labels. */
  usage_log_series: SeriesLabels & { id: number };
  /** The same of models, which there are far fewer of. */
  usage_log_models: Pick<UsageLogRow, 'model' | 'channel_id' | 'group'>;
}

// Both only grow when somebody does what nobody did before.
export const tablesOfValues = `
  create table usage_log_series (
    id integer primary key,
    user_id bigint not null,
    api_key_id bigint not null,
    channel_id bigint not null,
    type smallint not null,
    model text not null,
    "group" text not null,
    api_key_name text not null,
    unique (user_id, api_key_id, channel_id, model, "group", type, api_key_name)
  );
  create index usage_log_series_api_key on usage_log_series (api_key_id);
  create index usage_log_series_api_key_name on usage_log_series (api_key_name);
  create index usage_log_series_channel on usage_log_series (channel_id, model);
  create index usage_log_series_model on usage_log_series (model, "group");
  create index usage_log_series_group on usage_log_series ("group", type);

  create table usage_log_models (
    model text not null,
    channel_id bigint not null,
    "group" text not null,
    primary key (model, channel_id, "group")
  );
`;

const labelTypes = {
  user_id: 'bigint',
  api_key_id: 'bigint',
  channel_id: 'bigint',
  type: 'smallint',
  model: 'text',
  group: 'text',
  api_key_name: 'text',
} as const satisfies Readonly<Record<keyof SeriesLabels, ColumnType>>;
const labels = Object.keys(labelTypes) as (keyof SeriesLabels)[];
const modelKey = ['model', 'channel_id', 'group'] as const;

/** Names are what callers chose: no character keeps two of them apart. */
const keyOf = (line: SeriesLabels): string =>
  JSON.stringify([
    line.user_id,
    line.api_key_id,
    line.channel_id,
    line.type,
    line.model,
    line.group,
    line.api_key_name,
  ]);

/** The id of each line's series; those that are new are made. */
export async function seriesOf(
  tx: ReadModels,
  lines: readonly UsageLogRow[],
): Promise<ReadonlyMap<UsageLogRow, number>> {
  const places = new Map<string, number>();
  const distinct: UsageLogRow[] = [];
  const placeOf = lines.map((line) => {
    const key = keyOf(line);
    let place = places.get(key);
    if (place === undefined) {
      place = distinct.length;
      places.set(key, place);
      distinct.push(line);
    }
    return place;
  });
  const ids = await knownSeries(tx, distinct);
  const missing = distinct.filter((_, place) => !ids.has(place));
  if (missing.length > 0) {
    await makeSeries(tx, missing);
    await putModels(tx, missing);
    for (const [place, id] of await knownSeries(tx, distinct)) ids.set(place, id);
  }
  const series = new Map<UsageLogRow, number>();
  lines.forEach((line, index) => {
    const id = ids.get(placeOf[index] ?? Number.NaN);
    if (id === undefined) throw new Error('A series that was made is not there');
    series.set(line, id);
  });
  return series;
}

const asTable = (of: readonly SeriesLabels[]) => {
  const arrays = labels.map((label) => {
    const column = { column: label, type: labelTypes[label], values: of.map((line) => line[label]) } as ColumnValues;
    return sql`${arrayOf(column)}::${sql.raw(column.type)}[]`;
  });
  return sql`unnest(${sql.join(arrays)}) with ordinality as wanted (${names}, place)`;
};
const names = sql.join(labels.map((label) => sql.ref(label)));

/** By their places in the list. */
async function knownSeries(tx: ReadModels, wanted: readonly SeriesLabels[]): Promise<Map<number, number>> {
  if (wanted.length === 0) return new Map();
  const { rows } = await sql<{ place: number; id: number }>`
    select wanted.place, series.id from ${asTable(wanted)} join usage_log_series as series using (${names})
  `.execute(tx);
  return new Map(rows.map(({ place, id }) => [place - 1, id]));
}

// Numbered by hand: a sequence would go on where a batch is taken back, and a rebuild would number otherwise. One
// projector writes, and names that differ only in what cannot be stored are one name.
const makeSeries = (tx: ReadModels, wanted: readonly SeriesLabels[]): Promise<unknown> =>
  sql`
    insert into usage_log_series (id, ${names})
    select (select coalesce(max(id), 0) from usage_log_series) + place, ${names} from ${asTable(wanted)}
    on conflict (${names}) do nothing
  `.execute(tx);

async function putModels(tx: ReadModels, wanted: readonly SeriesLabels[]): Promise<void> {
  const models = new Map<string, UsageLogValues['usage_log_models']>();
  for (const { model, channel_id, group } of wanted)
    models.set(JSON.stringify([channel_id, group, model]), { model, channel_id, group });
  await putNewRows(tx, 'usage_log_models', modelKey, [...models.values()]);
}
