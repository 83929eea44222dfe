import { sql } from 'kysely';
import type { ReadModels } from '../../database.js';
import { logTypes } from './usage-log.js';

/* Calls that were refused because their model, or a tool they asked for, has no price. */

/** The status and error that their callers got. */
const code = 'model_price_error';

interface UnpricedCallsRange {
  /** Unix seconds. */
  readonly since: number;
  /** Of the newest lines, so many are looked at. */
  readonly maxLines: number;
  readonly maxModels: number;
}

interface UnpricedCalls {
  readonly model: string;
  readonly calls: number;
}

/** By model, the most frequent first. */
export function unpricedCalls(
  db: ReadModels,
  { since, maxLines, maxModels }: UnpricedCallsRange,
): Promise<UnpricedCalls[]> {
  const lines = db
    .selectFrom('usage_log as line')
    .select(['line.model_id', sql<number>`coalesce((line.detail->>'count')::numeric, 1)`.as('calls')])
    .where('line.type', '=', sql.lit(logTypes.error))
    .where(sql`line.detail->>'code'`, '=', code)
    .where('line.created_at', '>=', since)
    .orderBy('line.id', 'desc')
    .limit(maxLines);
  return db
    .selectFrom(lines.as('refused'))
    .innerJoin('usage_log_names as names', 'names.id', 'refused.model_id')
    .where('names.name', '!=', '')
    .select(['names.name as model', sql<number>`sum(refused.calls)`.as('calls')])
    .groupBy('names.name')
    .orderBy('calls', 'desc')
    .orderBy('model')
    .limit(maxModels)
    .execute();
}
