import { sql } from 'kysely';
import type { Position } from '../../../domain/events/events.js';
import { Failure } from '../../../domain/kernel/failure.js';
import type { ReadModels } from '../../database.js';
import { offsetOf, type PageRequest } from '../../engine/page.js';
import { countedUpTo, type InOrder, inOrder, newest } from './lines-in-order.js';
import { narrowed, numbered } from './narrowed-filter.js';
import { type LineLabels, lineWithLabels, type StoredLine } from './stored-line.js';
import type { UsageLogRow } from './usage-log.js';
import { type LineFilter, type Lines, matching, shown, type UsageLogFilter } from './usage-log-filter.js';
import { linesWithin, skipAbove } from './usage-log-hours.js';

/** The names that ids have now; '' where the channel or user is gone. */
interface Names {
  readonly username: string;
  readonly channel_name: string;
}

export interface UsageLogEntry extends UsageLogRow, Names {}

/**
 * What is shown of what is asked for. Who is asked for by name is by id: the planner knows how many lines are theirs. null:
 * there are no such lines.
 */
async function wanted(db: ReadModels, asked: UsageLogFilter, counted = false): Promise<LineFilter | null> {
  const { username, ...filter } = await shown(db, asked);
  if (username === undefined) return narrowed(db, filter, { counted });
  if (username === '') return null;
  const holders = await db.selectFrom('users').select('id').where('username', '=', username).execute();
  const userIds = holders.map(({ id }) => id).filter((id) => filter.userIds?.includes(id) ?? true);
  return userIds.length === 0 ? null : narrowed(db, { ...filter, userIds }, { counted });
}

/** What is shown of what is asked for, in that order; null: there are none. */
async function linesOf(db: ReadModels, asked: UsageLogFilter, counted = false): Promise<InOrder | null> {
  const filter = await wanted(db, asked, counted);
  return filter === null ? null : inOrder(db, filter);
}

const entries = (lines: Lines) =>
  lines
    .innerJoin('usage_log_series as series', 'series.id', 'line.series_id')
    .leftJoin('usage_log_terms as terms', 'terms.id', 'line.terms_id')
    .leftJoin('users as holder', 'holder.id', 'line.user_id')
    .leftJoin('channels as channel', (join) => join.on(sql`channel.id`, '=', sql`line.channel_id`))
    .selectAll('line')
    .select(['series.model', 'series.group', 'series.api_key_name'])
    .select(['terms.path', 'terms.price', 'terms.usage_source', 'terms.outcome'])
    .select([
      sql<string>`coalesce(holder.username, '')`.as('username'),
      sql<string>`coalesce(channel.name, '')`.as('channel_name'),
    ]);

/** Newest first. */
const entriesAt = (db: ReadModels, ids: ReturnType<typeof newest>) =>
  entries(matching(db, {}).where('line.id', 'in', ids)).orderBy('line.id', 'desc');

const entriesFrom = async (query: {
  execute(): Promise<(StoredLine & LineLabels & Names)[]>;
}): Promise<UsageLogEntry[]> => (await query.execute()).map(lineWithLabels);

/** Newest first, older than `before`: the next page starts where this one's last line ends. */
export async function usageLogBefore(
  db: ReadModels,
  asked: UsageLogFilter,
  { before, upTo, limit }: { readonly before?: Position; readonly upTo?: Position; readonly limit: number },
): Promise<UsageLogEntry[]> {
  const found = await linesOf(db, asked);
  if (found === null) return [];
  const lines =
    before !== undefined
      ? found.lines.where('line.id', '<', before)
      : upTo !== undefined
        ? found.lines.where('line.id', '<=', upTo)
        : found.lines;
  if (found.series === undefined) return entriesFrom(entries(lines).orderBy('line.id', 'desc').limit(limit));
  return entriesFrom(entriesAt(db, newest(db, { ...found, lines }, { limit })));
}

/** Oldest first, newer than `after` and not newer than `upTo`: what has been added. */
export async function usageLogAfter(
  db: ReadModels,
  filter: UsageLogFilter,
  { after, upTo, limit }: { readonly after: Position; readonly upTo: Position; readonly limit: number },
): Promise<UsageLogEntry[]> {
  const numbers = await numbered(db, await shown(db, filter));
  const found = numbers === null ? null : await inOrder(db, numbers);
  if (found === null) return [];
  const newer = found.lines.where('line.id', '>', after).where('line.id', '<=', upTo);
  return entriesFrom(entries(newer).orderBy('line.id', 'asc').limit(limit));
}

/** How much counting may cost; a log of millions takes longer to count than to show. */
interface Counting {
  /** Lines, at most. */
  readonly lines: number;
  /** As the planner of Postgres reckons; a tenth of a second is some ten thousand. */
  readonly cost: number;
  /** Lines that are counted however long it takes. */
  readonly few: number;
  /** For how long the others are counted, at least 1: lines that are not in memory take fifty times as long. */
  readonly ms: number;
  /** Lines above a page that are passed over one by one, as far as there is a choice. */
  readonly passed: number;
}

const usualCounting: Counting = { lines: 10_000, cost: 5_000, few: 200, ms: 15, passed: 10_000 };
/**
 * Where the planner expects so many times the lines that may be counted, counting would only show that there are more.
 */
const farMore = 10;

/** Whether everybody's lines of all kinds are asked for: hours know how many these are. */
const isOfTimeAlone = ({ from: _, to: __, ...others }: LineFilter): boolean =>
  Object.values(others).every((value) => value === undefined);

/** A page of the log; the total of what is not counted is what the planner of Postgres expects. */
export interface UsageLogPage {
  readonly items: readonly UsageLogEntry[];
  readonly total: number;
  readonly totalIsExact: boolean;
}

/** Newest first, by page number. */
export async function usageLogPage(
  db: ReadModels,
  asked: UsageLogFilter,
  request: PageRequest,
  counting = usualCounting,
): Promise<UsageLogPage> {
  const filter = await wanted(db, asked);
  const found = filter === null ? null : await inOrder(db, filter);
  if (filter === null || found === null) return { items: [], total: 0, totalIsExact: true };
  const offset = offsetOf(request);
  const byHours = isOfTimeAlone(filter);
  const skipped = byHours && offset > counting.passed ? await skipAbove(db, filter, offset, counting.lines) : null;
  const below = skipped === null ? found.lines : found.lines.where('line.id', '<', skipped.before);
  // What lies before the page is passed over in an index, and neither read nor joined.
  const taken = { limit: request.size, offset: offset - (skipped?.lines ?? 0) };
  const items = await entriesFrom(entriesAt(db, newest(db, { ...found, lines: below }, taken)));
  const seen = offset + items.length;
  // The last page has shown how many there are.
  const isLast = items.length < request.size && (items.length > 0 || offset === 0);
  if (isLast) return { items, total: seen, totalIsExact: true };
  const known = byHours ? await linesWithin(db, filter, counting.lines) : null;
  if (known !== null) return { items, total: known, totalIsExact: true };
  const { cost, lines: reckoned } = await expected(db, filter, counting.lines + 1);
  const isWorthCounting = cost <= counting.cost && reckoned <= farMore * counting.lines;
  const counted = isWorthCounting ? await countedInTime(db, found, counting) : null;
  if (counted?.isAll) return { items, total: counted.lines, totalIsExact: true };
  // What has been seen is sure, whatever the planner thinks; and behind a full page there may be another one.
  const atLeast = Math.max(counted?.lines ?? 0, items.length === 0 ? 0 : seen + 1);
  return { items, total: Math.max(atLeast, reckoned), totalIsExact: false };
}

/** As many as may be counted, and for as long as that may take. */
async function countedInTime(
  db: ReadModels,
  found: InOrder,
  { lines: max, few, ms }: Counting,
): Promise<{ readonly lines: number; readonly isAll: boolean }> {
  const first = Math.min(few, max);
  const counted = await countedUpTo(db, found, first + 1);
  if (counted <= first) return { lines: counted, isAll: true };
  if (first === max) return { lines: counted, isAll: false };
  try {
    const all = await db.transaction().execute(async (tx) => {
      await sql`set local statement_timeout = ${sql.lit(ms)}`.execute(tx);
      return countedUpTo(tx, found, max + 1);
    });
    return { lines: all, isAll: all <= max };
  } catch (error) {
    if (error instanceof Failure && error.code === 'query-too-slow') return { lines: counted, isAll: false };
    throw error;
  }
}

/** How many lines there are up to a place in the log, counted as far as `max`. */
export async function usageLogCount(
  db: ReadModels,
  asked: UsageLogFilter,
  { upTo, max }: { readonly upTo: Position; readonly max: number },
): Promise<number> {
  const found = await linesOf(db, asked, true);
  return found === null ? 0 : countedUpTo(db, { ...found, lines: found.lines.where('line.id', '<=', upTo) }, max);
}

/** A node of a plan. */
interface Plan {
  readonly 'Total Cost': number;
  readonly 'Plan Rows': number;
  readonly Plans?: readonly Plan[];
}

/**
 * What the planner thinks of counting that far, and how many lines it expects in all; costs a plan, reads nothing. By the
 * time asked for and not by the ids of that time, which say less to it.
 */
async function expected(
  db: ReadModels,
  filter: LineFilter,
  limit: number,
): Promise<{ readonly cost: number; readonly lines: number }> {
  const counted = matching(db, filter).select(sql`1`.as('one')).limit(limit);
  const [row] = await counted.explain<{ 'QUERY PLAN': readonly [{ Plan: Plan }] }>('json');
  const plan = row?.['QUERY PLAN'][0].Plan;
  // Below the limit, it is all of them.
  return { cost: plan?.['Total Cost'] ?? 0, lines: plan?.Plans?.[0]?.['Plan Rows'] ?? plan?.['Plan Rows'] ?? 0 };
}
