import { sql } from 'kysely';
import type { ReadModels } from '../../database.js';
import { arrayOf, type ColumnType, type ColumnValues } from '../../engine/column-arrays.js';
import type { UsageLogRow } from './usage-log.js';

/* Which values lines have, and which of them together; what for, `narrowed-filter.ts` explains. */

/** What lines of one series have in common. */
export type SeriesLabels = Pick<
  UsageLogRow,
  'user_id' | 'api_key_id' | 'channel_id' | 'type' | 'model' | 'group' | 'api_key_name'
>;

/** What a line holds instead of its names. */
export interface LineNumbers {
  readonly series_id: number;
  readonly model_id: number;
  readonly group_id: number;
}

type NameNumbers = Pick<LineNumbers, 'model_id' | 'group_id'>;

export interface UsageLogValues {
  /** Of models and groups. */
  usage_log_names: { id: number; name: string };
  /** Lines of it may be gone; there is none with other labels. */
  usage_log_series: SeriesLabels & NameNumbers & { id: number };
  /** The same of models, which there are far fewer of. */
  usage_log_models: Pick<UsageLogRow, 'channel_id'> & NameNumbers;
}

// All only grow when somebody does what nobody did before.
export const tablesOfValues = `
  create table usage_log_names (
    id integer primary key,
    name text not null unique
  );

  create table usage_log_series (
    id integer primary key,
    user_id bigint not null,
    api_key_id bigint not null,
    channel_id bigint not null,
    model_id integer not null,
    group_id integer not null,
    type smallint not null,
    model text not null,
    "group" text not null,
    api_key_name text not null,
    unique (user_id, api_key_id, channel_id, model, "group", type, api_key_name)
  );
  create index usage_log_series_api_key on usage_log_series (api_key_id);
  create index usage_log_series_api_key_name on usage_log_series (api_key_name);
  create index usage_log_series_channel on usage_log_series (channel_id, model_id);
  create index usage_log_series_model on usage_log_series (model_id, group_id);
  create index usage_log_series_group on usage_log_series (group_id, type);

  create table usage_log_models (
    model_id integer not null,
    channel_id bigint not null,
    group_id integer not null,
    primary key (model_id, channel_id, group_id)
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

/** The numbers of each line; what is new gets numbers. */
export async function numbersOf(
  tx: ReadModels,
  lines: readonly UsageLogRow[],
): Promise<ReadonlyMap<UsageLogRow, LineNumbers>> {
  const indexByKey = new Map<string, number>();
  const distinct: UsageLogRow[] = [];
  const indexOfLine = lines.map((line) => {
    const key = keyOf(line);
    let index = indexByKey.get(key);
    if (index === undefined) {
      index = distinct.length;
      indexByKey.set(key, index);
      distinct.push(line);
    }
    return index;
  });
  let known = await knownSeries(tx, distinct);
  const missing = distinct.filter((_, index) => !known.has(index));
  if (missing.length > 0) {
    await makeNames(tx, missing);
    await makeSeries(tx, missing);
    known = await knownSeries(tx, distinct);
  }
  const numbers = new Map<UsageLogRow, LineNumbers>();
  lines.forEach((line, index) => {
    const found = known.get(indexOfLine[index] ?? Number.NaN);
    if (found === undefined) throw new Error('A series that was made is not there');
    numbers.set(line, found);
  });
  return numbers;
}

const asTable = (of: readonly SeriesLabels[]) => {
  const arrays = labels.map((label) => {
    const column = { column: label, type: labelTypes[label], values: of.map((line) => line[label]) } as ColumnValues;
    return sql`${arrayOf(column)}::${sql.raw(column.type)}[]`;
  });
  return sql`unnest(${sql.join(arrays)}) with ordinality as wanted (${names}, place)`;
};
const names = sql.join(labels.map((label) => sql.ref(label)));

/** By their indexes in the list. */
async function knownSeries(tx: ReadModels, wanted: readonly SeriesLabels[]): Promise<Map<number, LineNumbers>> {
  if (wanted.length === 0) return new Map();
  const { rows } = await sql<LineNumbers & { place: number }>`
    select wanted.place, series.id as series_id, series.model_id, series.group_id
    from ${asTable(wanted)} join usage_log_series as series using (${names})
  `.execute(tx);
  return new Map(rows.map(({ place, ...numbers }) => [place - 1, numbers]));
}

// Numbered by hand, here and below: a sequence would go on where a batch is taken back, and a rebuild would number
// otherwise. One projector writes, and names that differ only in what cannot be stored are one name.
const makeNames = (tx: ReadModels, wanted: readonly SeriesLabels[]): Promise<unknown> => {
  const asked = { column: 'name', type: 'text', values: wanted.flatMap(({ model, group }) => [model, group]) } as const;
  return sql`
    insert into usage_log_names (id, name)
    select (select coalesce(max(id), 0) from usage_log_names) + row_number() over (order by min(place)), name
    from unnest(${arrayOf(asked)}::text[]) with ordinality as wanted (name, place)
    where not exists (select from usage_log_names as known where known.name = wanted.name)
    group by name
  `.execute(tx);
};

/** Their names have numbers. */
const makeSeries = (tx: ReadModels, wanted: readonly SeriesLabels[]): Promise<unknown> =>
  sql`
    with made as (
      insert into usage_log_series (id, model_id, group_id, ${names})
      select (select coalesce(max(id), 0) from usage_log_series) + place, of_model.id, of_group.id, ${names}
      from ${asTable(wanted)}
      join usage_log_names as of_model on of_model.name = wanted.model
      join usage_log_names as of_group on of_group.name = wanted."group"
      order by place
      on conflict (${names}) do nothing
      returning model_id, channel_id, group_id
    )
    insert into usage_log_models (model_id, channel_id, group_id) select model_id, channel_id, group_id from made
    on conflict do nothing
  `.execute(tx);
