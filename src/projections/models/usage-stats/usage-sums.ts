import { type Insertable, sql } from 'kysely';
import type { ApiKeyId, ChannelId, UserId } from '../../../domain/ids.js';
import type { Quota } from '../../../domain/quota.js';
import type { ReadModels } from '../../database.js';
import { adding, storableText } from '../../engine/multi-row.js';
import { type Sum, tallyOf } from '../../engine/tallies.js';

/*
 * The same calls, counted by the hour in several tables: one by all there is to ask about, whose rows are nearly as many
 * as calls where there are few calls an hour, and some by little, in which 90 days are a few thousand rows. Whoever asks
 * is answered from the first table that knows all that they name.
 */

/** What calls are told apart by within an hour. */
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
export const counted = { logged: 0, unlogged: 1, channelTests: 2 } as const;
type Counted = (typeof counted)[keyof typeof counted];

interface Hour {
  /** Its start, unix seconds. */
  hour: number;
  counted: Counted;
}

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
}

export const measures = [
  'requests',
  'errors',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'use_time_ms',
] as const satisfies readonly (keyof Measures)[];

type SumsBy<Known extends Dimension> = Hour & Pick<Dimensions, Known> & Measures;

export interface UsageSumTables {
  usage_stats_models: SumsBy<'model' | 'group'>;
  usage_stats_channels: SumsBy<'channel_id'>;
  usage_stats_callers: SumsBy<'user_id' | 'api_key_id' | 'api_key_name'>;
  usage_stats: SumsBy<'user_id' | 'api_key_id' | 'model' | 'channel_id' | 'group'>;
}

export type UsageSumTable = keyof UsageSumTables;

/** Those with the fewest rows first. */
const known: Readonly<Record<UsageSumTable, readonly Dimension[]>> = {
  usage_stats_models: ['model', 'group'],
  usage_stats_channels: ['channel_id'],
  usage_stats_callers: ['user_id', 'api_key_id', 'api_key_name'],
  usage_stats: ['user_id', 'api_key_id', 'model', 'channel_id', 'group'],
};

const sumTables = Object.entries(known) as [UsageSumTable, readonly Dimension[]][];

const keyOf = (dimensions: readonly Dimension[]) => ['hour', ...dimensions, 'counted'] as const;

const types: Readonly<Record<Dimension | keyof Hour | keyof Measures, string>> = {
  hour: 'bigint',
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
};
type KeyColumn = keyof Hour | Dimension;

const tableOf = ([name, dimensions]: (typeof sumTables)[number]): string => `
  create table ${name} (
    ${[...keyOf(dimensions), ...measures].map((column) => `"${column}" ${types[column]} not null`).join(', ')},
    primary key (${keyOf(dimensions)
      .map((column) => `"${column}"`)
      .join(', ')})
  ) with (fillfactor = 70);
`;

// One user's hours, or one key's, are few of all. What grows is the newest hour: its rows are changed in place, in no index.
export const tablesOfSums = `
  ${sumTables.map(tableOf).join('')}
  create index usage_stats_user on usage_stats (user_id, hour);
  create index usage_stats_callers_user on usage_stats_callers (user_id, hour);
  create index usage_stats_callers_api_key on usage_stats_callers (api_key_id, hour);
  create index usage_stats_callers_api_key_name on usage_stats_callers (api_key_name, hour);
`;

/** What calls of a batch come to. */
export type Tally = Hour & Dimensions & Insertable<Measures>;

/** The tally of what is told apart by these members, made where it is the first. */
export function tallyOfCalls(tallies: Map<string, Tally>, told: Hour & Dimensions): Tally {
  const { hour, user_id, api_key_id, api_key_name, model, channel_id, group, counted } = told;
  // Lengths keep texts apart, whatever they hold.
  const key = `${hour} ${user_id} ${api_key_id} ${channel_id} ${counted} ${model.length} ${group.length} ${model}${group}${api_key_name}`;
  return tallyOf(tallies, key, () => ({
    hour,
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
  }));
}

/** The tallies by fewer dimensions. What a sum is told apart by is read off the tally it began with. */
function summed(tallies: Iterable<Tally>, columns: readonly KeyColumn[]): Iterable<Tally> {
  const sums = new Map<string, Tally>();
  for (const tally of tallies) {
    let key = '';
    for (const column of columns) {
      const value = tally[column];
      key += typeof value === 'string' ? `${value.length} ${value}` : `${value} `;
    }
    const sum = sums.get(key);
    if (sum === undefined) {
      sums.set(key, { ...tally });
      continue;
    }
    sum.requests += tally.requests;
    sum.errors += tally.errors;
    sum.quota += tally.quota;
    sum.prompt_tokens += tally.prompt_tokens;
    sum.completion_tokens += tally.completion_tokens;
    sum.cached_tokens += tally.cached_tokens;
    sum.reasoning_tokens += tally.reasoning_tokens;
    sum.use_time_ms += tally.use_time_ms;
  }
  return sums.values();
}

/** JSON has no bigint: sums travel as text. */
const told = (tally: Tally, columns: readonly KeyColumn[]): Readonly<Record<string, unknown>> => {
  const row: Record<string, unknown> = {
    requests: tally.requests,
    errors: tally.errors,
    quota: String(tally.quota),
    prompt_tokens: String(tally.prompt_tokens),
    completion_tokens: String(tally.completion_tokens),
    cached_tokens: String(tally.cached_tokens),
    reasoning_tokens: String(tally.reasoning_tokens),
    use_time_ms: String(tally.use_time_ms),
  };
  for (const column of columns) row[column] = tally[column];
  return row;
};

/** Adds what the calls of a batch come to, in every table: one statement, since most of a small batch is its beginning. */
export async function addSums(tx: ReadModels, tallies: ReadonlyMap<string, Tally>): Promise<void> {
  if (tallies.size === 0) return;
  const additions = sumTables.map(([name, dimensions]) => {
    const key = keyOf(dimensions);
    const rows = Array.from(summed(tallies.values(), key), (sum) => told(sum, key));
    return sql`${sql.ref(`added_to_${name}`)} as (${adding(name, [...key, ...measures], key, rows)})`;
  });
  await sql`with ${sql.join(additions)} select`.execute(tx);
}

/** null: no table tells hours apart by all of these. */
export function tableThatKnows(asked: Iterable<Dimension>): UsageSumTable | null {
  const all = [...asked];
  return sumTables.find(([, dimensions]) => all.every((dimension) => dimensions.includes(dimension)))?.[0] ?? null;
}
