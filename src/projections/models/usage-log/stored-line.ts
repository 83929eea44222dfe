import { createHash } from 'node:crypto';
import { zero } from '../../../domain/kernel/quota.js';
import type { ColumnValues } from '../../engine/column-arrays.js';
import type { UsageLogRow } from './usage-log.js';
import { lineTypes } from './usage-log-columns.js';
import type { UsageLogTables } from './usage-log-tables.js';
import type { LineNumbers, SeriesLabels } from './usage-log-values.js';

/*
 * A line as its table holds it. There are as many as calls, so what many have in common stands once, beside them, and
 * what the other columns say already is left out.
 */

export type StoredLine = UsageLogTables['usage_log'];
type Terms = UsageLogTables['usage_log_terms'];

/**
 * Nothing in terms is chosen by callers, so they are few, and nobody can make two of them meet in one id: 53 bits of a
 * hash.
 */
function idOf(terms: string): number {
  const digest = createHash('sha256').update(terms).digest();
  return Number(digest.readBigUInt64BE() >> 11n);
}

const textOf = ({ path, price, usage_source, outcome }: Omit<Terms, 'id'>): string =>
  JSON.stringify([path, price, usage_source, outcome]);

/** With the id by which lines name it. */
export const termsRow = (terms: Omit<Terms, 'id'>): Terms => ({ id: idOf(textOf(terms)), ...terms });

/** Of lines that are about calls; null for others. */
function termsOf({ path, price, usage_source, outcome }: UsageLogRow, known: Map<string, Terms>): Terms | null {
  if (path === null) return null;
  const text = textOf({ path, price, usage_source, outcome });
  let terms = known.get(text);
  if (terms === undefined) {
    terms = { id: idOf(text), path, price, usage_source, outcome };
    known.set(text, terms);
  }
  return terms;
}

const plainKinds = ['input', 'cachedInput', 'output', 'reasoning'] as const;
type Counted = Pick<UsageLogRow, 'prompt_tokens' | 'completion_tokens' | 'cached_tokens' | 'reasoning_tokens'>;

/** What was used where it was text alone: the columns have all of it. */
function plainUsage(line: Counted): UsageLogRow['usage'] {
  const counts = {
    input: line.prompt_tokens - line.cached_tokens,
    cachedInput: line.cached_tokens,
    output: line.completion_tokens - line.reasoning_tokens,
    reasoning: line.reasoning_tokens,
  };
  const usage: { -readonly [Kind in keyof typeof counts]?: number } = {};
  for (const kind of plainKinds) if (counts[kind] !== 0) usage[kind] = counts[kind];
  return usage;
}

function isPlain(line: UsageLogRow): boolean {
  const plain = plainUsage(line);
  const names = Object.keys(line.usage) as (keyof UsageLogRow['usage'])[];
  return names.length === Object.keys(plain).length && names.every((name) => plain[name] === line.usage[name]);
}

/** The channel that is named anyway. */
const usualAttempts = ({ channel_id }: Pick<UsageLogRow, 'channel_id'>): UsageLogRow['attempts'] =>
  channel_id === 0 ? [] : [channel_id];

function isUsual({ attempts, channel_id }: UsageLogRow): boolean {
  return channel_id === 0 ? attempts.length === 0 : attempts.length === 1 && attempts[0] === channel_id;
}

/** Member by member: this is done for every call. */
const storedLine = (line: UsageLogRow, terms: Terms | null, numbers: LineNumbers): StoredLine => ({
  id: line.id,
  created_at: line.created_at,
  user_id: line.user_id,
  quota: line.quota,
  uncovered: line.uncovered === 0 ? null : line.uncovered,
  prompt_tokens: line.prompt_tokens,
  completion_tokens: line.completion_tokens,
  cached_tokens: line.cached_tokens === 0 ? null : line.cached_tokens,
  reasoning_tokens: line.reasoning_tokens === 0 ? null : line.reasoning_tokens,
  api_key_id: line.api_key_id,
  channel_id: line.channel_id,
  use_time_ms: line.use_time_ms,
  first_token_ms: line.first_token_ms,
  terms_id: terms?.id ?? null,
  series_id: numbers.series_id,
  model_id: numbers.model_id,
  group_id: numbers.group_id,
  type: line.type,
  is_stream: line.is_stream,
  request_id: line.request_id,
  upstream_cost: line.upstream_cost,
  upstream_model: line.upstream_model,
  reasoning_effort: line.reasoning_effort,
  usage: isPlain(line) ? null : line.usage,
  attempts: isUsual(line) ? null : line.attempts,
  failed_attempts: line.failed_attempts.length === 0 ? null : line.failed_attempts,
  detail: line.detail,
});

/**
 * What the two tables hold of these lines: of the lines all columns, of their terms rows, which are few. `numbers`: of each
 * line, see `usage-log-values.ts`.
 */
export function storedLines(
  lines: readonly UsageLogRow[],
  numbers: ReadonlyMap<UsageLogRow, LineNumbers>,
): {
  readonly columns: ColumnValues[];
  readonly terms: Terms[];
} {
  const known = new Map<string, Terms>();
  const rows = lines.map((line) => {
    const ofLine = numbers.get(line);
    // Under any other number nobody would find it.
    if (ofLine === undefined) throw new Error('A line of the log has no numbers');
    return storedLine(line, termsOf(line, known), ofLine);
  });
  const columns = (Object.keys(lineTypes) as (keyof StoredLine)[]).map(
    (column) => ({ column, type: lineTypes[column], values: rows.map((row) => row[column]) }) as ColumnValues,
  );
  return { columns, terms: [...known.values()] };
}

/** What a query selects of a line beside its columns. */
export type LineLabels = { readonly [Name in keyof Omit<Terms, 'id'>]: Terms[Name] | null } & Pick<
  SeriesLabels,
  'model' | 'group' | 'api_key_name'
>;

/** The line again. */
export function lineWithLabels<Row extends StoredLine & LineLabels>({
  terms_id: _,
  series_id: __,
  model_id: ___,
  group_id: ____,
  ...row
}: Row) {
  const counts = {
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    cached_tokens: row.cached_tokens ?? 0,
    reasoning_tokens: row.reasoning_tokens ?? 0,
  };
  return {
    ...row,
    ...counts,
    uncovered: row.uncovered ?? zero,
    usage: row.usage ?? plainUsage(counts),
    attempts: row.attempts ?? usualAttempts(row),
    failed_attempts: row.failed_attempts ?? [],
  };
}
