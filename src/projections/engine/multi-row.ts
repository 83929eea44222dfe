import { type Insertable, type RawBuilder, sql } from 'kysely';
import type { Database, ReadModels } from '../database.js';
import { arrayOf, type ColumnValues, storableJson } from './column-arrays.js';

/*
 * One statement for many rows. Rows travel as one JSON text, which costs Node a single stringify however wide they are,
 * and Postgres takes the columns' types from the table itself.
 */

type Table = keyof Database & string;
type Column<T extends Table> = keyof Database[T] & string;
/** All rows of one statement name the same columns; those left out get the table's default. */
type Row<T extends Table> = Partial<Insertable<Database[T]>>;

/** JSON has no bigint: sums travel as text, which Postgres takes for a number as well. */
const withSumsAsText = (rows: readonly object[]): readonly object[] =>
  Object.values(rows[0] ?? {}).some((value) => typeof value === 'bigint')
    ? rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => [column, typeof value === 'bigint' ? String(value) : value]),
        ),
      )
    : rows;

const source = (table: Table, rows: readonly object[]): RawBuilder<unknown> =>
  sql`json_populate_recordset(null::${sql.table(table)}, ${storableJson(withSumsAsText(rows))}::json)`;

const columnsOf = <T extends Table>(rows: readonly Row<T>[]): Column<T>[] => Object.keys(rows[0] ?? {}) as Column<T>[];

const refs = (columns: readonly string[]): RawBuilder<unknown> => sql.join(columns.map((column) => sql.ref(column)));

const insert = (table: Table, named: readonly string[], rows: readonly object[]): RawBuilder<unknown> => {
  const columns = refs(named);
  return sql`insert into ${sql.table(table)} (${columns}) select ${columns} from ${source(table, rows)}`;
};

export async function insertRows<T extends Table>(tx: ReadModels, table: T, rows: readonly Row<T>[]): Promise<void> {
  if (rows.length > 0) await insert(table, columnsOf(rows), rows).execute(tx);
}

/** Inserts those whose key is not there yet. */
export async function putNewRows<T extends Table>(
  tx: ReadModels,
  table: T,
  key: readonly Column<T>[],
  rows: readonly Row<T>[],
): Promise<void> {
  if (rows.length > 0)
    await sql`${insert(table, columnsOf(rows), rows)} on conflict (${refs(key)}) do nothing`.execute(tx);
}

/** Inserts, or overwrites the columns given. */
export async function putRows<T extends Table>(
  tx: ReadModels,
  table: T,
  key: readonly Column<T>[],
  rows: readonly Row<T>[],
): Promise<void> {
  if (rows.length === 0) return;
  const changes = columnsOf(rows)
    .filter((column) => !key.includes(column))
    .map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
  await sql`${insert(table, columnsOf(rows), rows)} on conflict (${refs(key)}) do update set ${sql.join(changes)}`.execute(
    tx,
  );
}

/**
 * Adds the columns given to the row with that key, which is made where it is missing: also by nothing but zeros, so that
 * the rows there are do not depend on which events came in one batch.
 */
export async function addToRows<T extends Table>(
  tx: ReadModels,
  table: T,
  key: readonly Column<T>[],
  rows: readonly Row<T>[],
): Promise<void> {
  const columns = columnsOf(rows);
  if (rows.length > 0) await sql`${insert(table, columns, rows)} ${addedUp(table, columns, key)}`.execute(tx);
}

/**
 * The same rows column by column, of which Postgres reads several times as many in the same time as of JSON: for tables
 * that get rows with every call. All columns are as long as each other. Unnested in the list of what is selected they
 * advance together; as a table Postgres would write each of them down and read it again.
 */
const fromColumns = (table: Table, columns: readonly ColumnValues[]): RawBuilder<unknown> => {
  const arrays = columns.map((column) => sql`unnest(${arrayOf(column)}::${sql.raw(column.type)}[])`);
  return sql`insert into ${sql.table(table)} (${refs(namesOf(columns))}) select ${sql.join(arrays)}`;
};

const namesOf = (columns: readonly ColumnValues[]): string[] => columns.map(({ column }) => column);

/** As `insertRows`. */
export async function insertColumns(tx: ReadModels, table: Table, columns: readonly ColumnValues[]): Promise<void> {
  if (columns.some(({ values }) => values.length > 0)) await fromColumns(table, columns).execute(tx);
}

/** The statement of `addToRows`, for who has several to run at once. */
export const adding = (table: Table, key: readonly string[], columns: readonly ColumnValues[]): RawBuilder<unknown> =>
  sql`${fromColumns(table, columns)} ${addedUp(table, namesOf(columns), key)}`;

function addedUp(table: Table, columns: readonly string[], key: readonly string[]): RawBuilder<unknown> {
  const sums = columns.filter((column) => !key.includes(column));
  const changes = sums.map((column) => {
    const more = sql.ref(`excluded.${column}`);
    return sql`${sql.ref(column)} = ${sql.ref(`${table}.${column}`)} + ${more}`;
  });
  const any = sums.map((column) => sql`${sql.ref(`excluded.${column}`)} <> 0`);
  return sql`on conflict (${refs(key)}) do update set ${sql.join(changes)} where ${sql.join(any, sql` or `)}`;
}

/**
 * Adds the columns given to the rows with that `id`; unknown ids are left alone. `latest` columns take the larger value
 * instead, null counting as the smallest.
 */
export async function addById<T extends 'users' | 'api_keys' | 'channels'>(
  tx: ReadModels,
  table: T,
  rows: readonly (Row<T> & { readonly id: number })[],
  latest: readonly Column<T>[] = [],
): Promise<void> {
  if (rows.length === 0) return;
  const changes = columnsOf<T>(rows)
    .filter((column) => column !== 'id')
    .map((column) => {
      const [before, more] = [sql.ref(`${table}.${column}`), sql.ref(`more.${column}`)];
      const after = latest.includes(column) ? sql`greatest(${before}, ${more})` : sql`${before} + ${more}`;
      return sql`${sql.ref(column)} = ${after}`;
    });
  await sql`
    update ${sql.table(table)} set ${sql.join(changes)}
    from ${source(table, rows)} as more where ${sql.ref(`${table}.id`)} = more.id
  `.execute(tx);
}
