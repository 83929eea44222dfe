import { setImmediate as turn } from 'node:timers/promises';
import { type Insertable, type RawBuilder, sql } from 'kysely';
import type { ApiKeyId, ChannelId, UserId } from '../../../domain/kernel/ids.js';
import type { Quota } from '../../../domain/kernel/quota.js';
import type { ReadModels } from '../../database.js';
import { type ColumnType, type ColumnValues, storableText } from '../../engine/column-arrays.js';
import { adding } from '../../engine/multi-row.js';
import { type Sum, tallyOf } from '../../engine/tallies.js';
import { Distribution, type DistributionColumn } from './distribution.js';

/*
 * The same calls, counted by the hour in several tables: one by all there is to ask about, some by little, which are far
 * shorter. The first table that knows all that is named answers. The last hours are counted by the minute too, and
 * callers by the day.
 */

/** What calls are distinguished by within an hour or a minute. */
interface Dimensions {
  user_id: UserId;
  /** 0: no API key paid. */
  api_key_id: ApiKeyId | 0;
  /** As the key was called then. */
  api_key_name: string;
  model: string;
  /** The channel that answered, or was tried last; 0: none. */
  channel_id: ChannelId | 0;
  group: string;
}

export type Dimension = keyof Dimensions;

/** What a row counts. */
export const rowKinds = { logged: 0, unlogged: 1, channelTests: 2 } as const;
type Counted = (typeof rowKinds)[keyof typeof rowKinds];

/** How long the pieces of time are, in seconds, by the column that holds when they began: unix seconds. */
export const pieces = { hour: 3_600, minute: 60 } as const;
export type Piece = keyof typeof pieces;

export const daySeconds = 86_400;
/** Days begin at midnight UTC. */
const lengths = { ...pieces, day: daySeconds } as const;
type Length = keyof typeof lengths;

/** When the hour, minute or day began in which this is: unix seconds, as what it is asked of. */
export const beganIn = (length: Length, seconds: number): number => seconds - (seconds % lengths[length]);

/** How far before the newest event, in seconds, calls are distinguished by the minute. */
export const minutesKept = 13 * 3_600;

interface Measures {
  /** Settled calls. */
  requests: number;
  /** Calls that were reserved and could not be served. */
  errors: number;
  quota: Sum<Quota>;
  prompt_tokens: Sum;
  completion_tokens: Sum;
  cached_tokens: Sum;
  reasoning_tokens: Sum;
  /** Summed over settled calls. */
  use_time_ms: Sum;
  /** What they cost the operator, where that is known: in the table millionths of a millionth of a US dollar, read as dollars. */
  cost: Sum;
  /** Settled calls whose cost nobody knows, and what was charged for them. */
  requests_without_cost: number;
  quota_without_cost: Sum<Quota>;
  /** How long settled calls took. */
  latencies: DistributionColumn;
  /** How long the streamed ones of them took to begin. */
  first_tokens: DistributionColumn;
}

/** Added up as they are read. */
export const measures = [
  'requests',
  'errors',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'use_time_ms',
  'cost',
  'requests_without_cost',
  'quota_without_cost',
] as const satisfies readonly (keyof Measures)[];

/** Places of a dollar that the tables have of costs. */
export const costPlaces = 12;

/** A measure's sum as it is read. */
export const readSum = (measure: (typeof measures)[number], summed: RawBuilder<unknown>): RawBuilder<number> =>
  measure === 'cost' ? sql<number>`(${summed} / 1e${sql.lit(costPlaces)})::float8` : sql<number>`${summed}`;

export const distributions = ['latencies', 'first_tokens'] as const satisfies readonly (keyof Measures)[];

type SumsBy<Time extends Length, Known extends Dimension> = { [Column in Time]: number } & { counted: Counted } & Pick<
    Dimensions,
    Known
  > &
  Measures;

export interface UsageSumTables {
  usage_stats_models: SumsBy<'hour', 'model' | 'group'>;
  usage_stats_channels: SumsBy<'hour', 'channel_id'>;
  usage_stats_callers: SumsBy<'hour', 'user_id' | 'api_key_id' | 'api_key_name'>;
  usage_stats_callers_models: Omit<SumsBy<'hour', 'user_id' | 'api_key_id' | 'model'>, (typeof distributions)[number]>;
  usage_stats: SumsBy<'hour', 'user_id' | 'api_key_id' | 'model' | 'channel_id' | 'group'>;
  usage_stats_minutes: SumsBy<'minute', 'user_id' | 'api_key_id' | 'model' | 'channel_id' | 'group'>;
  usage_stats_callers_days: SumsBy<'day', 'user_id' | 'api_key_id' | 'api_key_name'>;
  usage_stats_callers_models_days: SumsBy<'day', 'user_id' | 'api_key_id' | 'model'>;
}

type DayTable = 'usage_stats_callers_days' | 'usage_stats_callers_models_days';
/** The tables of hours. */
export type UsageSumTable = Exclude<keyof UsageSumTables, 'usage_stats_minutes' | DayTable>;

/** Fewest rows first. */
const known: Readonly<Record<UsageSumTable, readonly Dimension[]>> = {
  usage_stats_models: ['model', 'group'],
  usage_stats_channels: ['channel_id'],
  usage_stats_callers: ['user_id', 'api_key_id', 'api_key_name'],
  usage_stats_callers_models: ['user_id', 'api_key_id', 'model'],
  usage_stats: ['user_id', 'api_key_id', 'model', 'channel_id', 'group'],
};

const sumTables = Object.entries(known) as [UsageSumTable, readonly Dimension[]][];

/** The same by the day, where hours are many. */
const dayTables: Readonly<Partial<Record<UsageSumTable, DayTable>>> = {
  usage_stats_callers: 'usage_stats_callers_days',
  usage_stats_callers_models: 'usage_stats_callers_models_days',
};

/** null: there is none that counts by the day what this one counts by the hour. */
export const daysOf = (table: UsageSumTable): DayTable | null => dayTables[table] ?? null;

/** Distributions are most of a row: a user's hours by model, which lie apart, would otherwise be a page each. */
const withoutDurations: ReadonlySet<keyof UsageSumTables> = new Set(['usage_stats_callers_models']);

interface SumTable {
  readonly name: keyof UsageSumTables;
  readonly length: Length;
  readonly dimensions: readonly Dimension[];
}

const minuteTable: SumTable = { name: 'usage_stats_minutes', length: 'minute', dimensions: known.usage_stats };
/** All that are kept for good, those with most dimensions first. */
const lastingTables = sumTables.toReversed().flatMap(([hours, dimensions]): SumTable[] => {
  const days = daysOf(hours);
  const byHour = { name: hours, length: 'hour', dimensions } as const;
  return days === null ? [byHour] : [byHour, { name: days, length: 'day', dimensions }];
});

/** Whether sums of the one say all that those of the other do. */
const canBeMadeOf = (table: SumTable, { length, dimensions }: SumTable): boolean =>
  lengths[table.length] % lengths[length] === 0 &&
  table.dimensions.every((dimension) => dimensions.includes(dimension));

const keyOf = ({ length, dimensions }: SumTable) => [length, ...dimensions, 'counted'] as const;
type KeyColumn = Length | Dimension | 'counted';
const isLength = (column: string): column is Length => column in lengths;

const measuresOf = ({ name }: SumTable): readonly (keyof Measures)[] =>
  withoutDurations.has(name) ? measures : [...measures, ...distributions];

const types = {
  hour: 'bigint',
  minute: 'bigint',
  day: 'bigint',
  user_id: 'bigint',
  api_key_id: 'bigint',
  api_key_name: 'text',
  model: 'text',
  channel_id: 'bigint',
  group: 'text',
  counted: 'smallint',
  requests: 'bigint',
  errors: 'bigint',
  quota: 'numeric',
  prompt_tokens: 'numeric',
  completion_tokens: 'numeric',
  cached_tokens: 'numeric',
  reasoning_tokens: 'numeric',
  use_time_ms: 'numeric',
  cost: 'numeric',
  requests_without_cost: 'bigint',
  quota_without_cost: 'numeric',
  latencies: 'numeric',
  first_tokens: 'numeric',
} as const satisfies Readonly<Record<KeyColumn | keyof Measures, ColumnType>>;

/** Asked for one user's rows of a long time: what finds these has to lie together. */
const keyedByUser: ReadonlySet<keyof UsageSumTables> = new Set([
  'usage_stats_callers_models',
  'usage_stats_callers_models_days',
]);

const quoted = (columns: readonly string[]): string => columns.map((column) => `"${column}"`).join(', ');

// Nothing is looked for by a measure, and comparing distributions was a fifth of what filling a table took Postgres.
function tableOf(table: SumTable): string {
  const { name, length } = table;
  const columns = [...keyOf(table), ...measuresOf(table)].map((column) => `"${column}" ${types[column]} not null`);
  const byUser = keyedByUser.has(name);
  const key = byUser ? ['user_id', ...keyOf(table).filter((column) => column !== 'user_id')] : keyOf(table);
  return `
    create table ${name} (${columns.join(', ')}, primary key (${quoted(key)})) with (fillfactor = 70);
    ${byUser ? `create index ${name}_${length} on ${name} (${length});` : ''}
    alter table ${name} ${measuresOf(table)
      .map((measure) => `alter column "${measure}" set statistics 0`)
      .join(', ')};
  `;
}

// One user's hours, or one key's, are few of all. What grows is the newest hour: its rows are changed in place, in no index.
export const tablesOfSums = `
  ${[...lastingTables, minuteTable].map(tableOf).join('')}
  create index usage_stats_user on usage_stats (user_id, hour);
  create index usage_stats_callers_user on usage_stats_callers (user_id, hour);
  create index usage_stats_callers_days_user on usage_stats_callers_days (user_id, day);
  create index usage_stats_callers_api_key on usage_stats_callers (api_key_id, hour);
  create index usage_stats_callers_days_api_key on usage_stats_callers_days (api_key_id, day);
  create index usage_stats_callers_api_key_name on usage_stats_callers (api_key_name, hour);
`;

type Distributions = Readonly<Record<(typeof distributions)[number], Distribution>>;

interface CallDimensions extends Dimensions {
  /** When the piece of time began, unix seconds. */
  readonly began: number;
  counted: Counted;
}

/** What calls of a batch come to within one piece of time. */
export type Tally = CallDimensions & Omit<Insertable<Measures>, keyof Distributions> & Distributions;

/** The tally by these members, made where it is the first. */
export function tallyOfCalls(tallies: Map<string, Tally>, dimensions: CallDimensions): Tally {
  const { began, user_id, api_key_id, api_key_name, model, channel_id, group, counted } = dimensions;
  // Lengths keep texts apart, whatever they hold.
  const key = `${began} ${user_id} ${api_key_id} ${channel_id} ${counted} ${model.length} ${group.length} ${model}${group}${api_key_name}`;
  return tallyOf(tallies, key, () => ({
    began,
    user_id,
    api_key_id,
    // What is one text in the table is one here, too: no statement may change a row twice.
    api_key_name: storableText(api_key_name),
    model: storableText(model),
    channel_id,
    group: storableText(group),
    counted,
    requests: 0,
    errors: 0,
    quota: 0n,
    prompt_tokens: 0n,
    completion_tokens: 0n,
    cached_tokens: 0n,
    reasoning_tokens: 0n,
    use_time_ms: 0n,
    cost: 0n,
    requests_without_cost: 0,
    quota_without_cost: 0n,
    latencies: Distribution.empty(),
    first_tokens: Distribution.empty(),
  }));
}

/** Of its own, so that it can be added to. */
const copyOf = (tally: Tally): Tally => ({
  ...tally,
  latencies: tally.latencies.copy(),
  first_tokens: tally.first_tokens.copy(),
});

function addTo(sum: Tally, tally: Tally): void {
  sum.requests += tally.requests;
  sum.errors += tally.errors;
  sum.quota += tally.quota;
  sum.prompt_tokens += tally.prompt_tokens;
  sum.completion_tokens += tally.completion_tokens;
  sum.cached_tokens += tally.cached_tokens;
  sum.reasoning_tokens += tally.reasoning_tokens;
  sum.use_time_ms += tally.use_time_ms;
  sum.cost += tally.cost;
  sum.requests_without_cost += tally.requests_without_cost;
  sum.quota_without_cost += tally.quota_without_cost;
  sum.latencies.addAll(tally.latencies);
  sum.first_tokens.addAll(tally.first_tokens);
}

/**
 * The tallies by fewer dimensions, and by longer times. The dimensions of a sum are read off the tally it began with,
 * which may have begun later.
 */
function summed(tallies: Iterable<Tally>, { length, dimensions }: SumTable): readonly Tally[] {
  const columns = [...dimensions, 'counted'] as const;
  const sums = new Map<string, Tally>();
  // Where calls are few, most sums are of one tally, and stay that one.
  const copied = new Set<Tally>();
  for (const tally of tallies) {
    let key = `${beganIn(length, tally.began)} `;
    for (const column of columns) {
      const value = tally[column];
      key += typeof value === 'string' ? `${value.length} ${value}` : `${value} `;
    }
    let sum = sums.get(key);
    if (sum === undefined) {
      sums.set(key, tally);
      continue;
    }
    if (!copied.has(sum)) {
      sum = copyOf(sum);
      copied.add(sum);
      sums.set(key, sum);
    }
    addTo(sum, tally);
  }
  return [...sums.values()];
}

/** The sums of one batch in several tables, each made of the smallest table that has its dimensions. */
class Sums {
  private readonly made: { readonly table: SumTable; readonly sums: readonly Tally[] }[] = [];

  constructor(private readonly tallies: Tallies) {}

  of(table: SumTable): readonly Tally[] {
    let smallest: readonly Tally[] = [...this.tallies.values()];
    for (const { table: of, sums } of this.made)
      if (sums.length < smallest.length && canBeMadeOf(table, of)) smallest = sums;
    const sums = summed(smallest, table);
    this.made.push({ table, sums });
    return sums;
  }
}

type Tallies = ReadonlyMap<string, Tally>;

function addition(table: SumTable, sums: readonly Tally[]): RawBuilder<unknown> {
  const { name, length } = table;
  const key = keyOf(table);
  const columns = [...key, ...measuresOf(table)].map(
    (column) =>
      ({
        column,
        type: types[column],
        values: sums.map((sum) => (isLength(column) ? beganIn(length, sum.began) : sum[column])),
      }) as ColumnValues,
  );
  return adding(name, key, columns);
}

/** From so many on a batch is written table by table. */
const manyTallies = 200;

/**
 * Adds what the calls of a batch come to by the hour, in every table, and by the minute. A small batch is one statement,
 * since most of it is its beginning; of a large one Postgres writes one table while the next is added up here.
 * `minutes`: those that are kept.
 */
export async function addSums(tx: ReadModels, hours: Tallies, minutes: Tallies): Promise<void> {
  if (hours.size === 0) return;
  const ofHours = new Sums(hours);
  const additions: [SumTable, Sums][] = lastingTables.map((table) => [table, ofHours]);
  if (minutes.size > 0) additions.push([minuteTable, new Sums(minutes)]);
  if (hours.size < manyTallies) {
    const all = additions.map(
      ([table, sums]) => sql`${sql.ref(`added_to_${table.name}`)} as (${addition(table, sums.of(table))})`,
    );
    await sql`with ${sql.join(all)} select`.execute(tx);
    return;
  }
  let written: Promise<unknown> = Promise.resolve();
  for (const [table, sums] of additions) {
    const statement = addition(table, sums.of(table));
    await written;
    written = statement.execute(tx);
    // Whether it fails is looked at in its turn.
    written.catch(() => {});
    // It is on its way only when those who pass it on have had their turns.
    await turn();
  }
  await written;
}

/** null: no table distinguishes hours by all of these. `durations`: it also has to know how long calls took. */
export function tableThatKnows(asked: Iterable<Dimension>, durations: boolean): UsageSumTable | null {
  const all = [...asked];
  const found = sumTables.find(
    ([name, dimensions]) =>
      all.every((dimension) => dimensions.includes(dimension)) && !(durations && withoutDurations.has(name)),
  );
  return found?.[0] ?? null;
}
