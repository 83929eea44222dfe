import type { ColumnType } from '../../engine/column-arrays.js';
import type { UsageLogTables } from './usage-log-tables.js';

/* The columns of the table of lines. */

type LineColumn = keyof UsageLogTables['usage_log'];

/** Columns of eight bytes come first, then those of four, so that none is padded. */
export const lineTypes = {
  id: 'bigint',
  created_at: 'bigint',
  user_id: 'bigint',
  quota: 'bigint',
  uncovered: 'bigint',
  prompt_tokens: 'bigint',
  completion_tokens: 'bigint',
  cached_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  api_key_id: 'bigint',
  channel_id: 'bigint',
  terms_id: 'bigint',
  use_time_ms: 'integer',
  first_token_ms: 'integer',
  series_id: 'integer',
  model_id: 'integer',
  group_id: 'integer',
  type: 'smallint',
  is_stream: 'boolean',
  request_id: 'text',
  upstream_cost: 'text',
  upstream_model: 'text',
  reasoning_effort: 'text',
  usage: 'json',
  attempts: 'json',
  failed_attempts: 'json',
  detail: 'json',
} as const satisfies Readonly<Record<LineColumn, ColumnType>>;

const mayBeNull: ReadonlySet<LineColumn> = new Set([
  'uncovered',
  'cached_tokens',
  'reasoning_tokens',
  'first_token_ms',
  'terms_id',
  'request_id',
  'upstream_cost',
  'upstream_model',
  'reasoning_effort',
  'usage',
  'attempts',
  'failed_attempts',
  'detail',
]);

/** Nobody looks for a line by these: comparing them was two fifths of what Postgres' statistics of the log took. */
const unsought: readonly LineColumn[] = [
  'quota',
  'uncovered',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'use_time_ms',
  'first_token_ms',
  'is_stream',
  'upstream_cost',
  'upstream_model',
  'reasoning_effort',
  'usage',
  'attempts',
  'failed_attempts',
  'detail',
];

/** A partition has them of its own. */
export const withoutStatistics = unsought.map((column) => `alter column "${column}" set statistics 0`).join(', ');

/** As `create table` names them. */
export const columnsOfLog = (Object.keys(lineTypes) as LineColumn[])
  .map((column) => `"${column}" ${lineTypes[column]}${mayBeNull.has(column) ? '' : ' not null'}`)
  .join(', ');
