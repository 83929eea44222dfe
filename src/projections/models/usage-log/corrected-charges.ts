import { sql } from 'kysely';
import type { Standing } from '../../../domain/call/call-correction.js';
import type { ReadModels } from '../../database.js';
import { putNewRows } from '../../engine/multi-row.js';
import { termsRow } from './stored-line.js';
import type { LogType, UsageLogRow } from './usage-log.js';

type TermsOfLine = Pick<UsageLogRow, 'usage_source' | 'outcome'> & {
  readonly request_id: string;
  readonly path: string;
};

/**
 * Lines of charges show what calls are charged now, and by which price: sums over them are those of the statistics.
 * `corrected`: by call.
 */
export async function correctCharges(
  tx: ReadModels,
  corrected: ReadonlyMap<string, Standing>,
  type: LogType,
): Promise<void> {
  const { rows } = await sql<TermsOfLine>`
    select line.request_id, terms.path, terms.usage_source, terms.outcome
    from usage_log as line join usage_log_terms as terms on terms.id = line.terms_id
    where line.request_id = any(${[...corrected.keys()]}::text[]) and line.type = ${type}
  `.execute(tx);
  const changes = rows.flatMap(({ request_id: call, ...terms }) => {
    const standing = corrected.get(call);
    if (standing === undefined) return [];
    const { price, charged, uncovered } = standing;
    return [{ call, charged, uncovered, terms: termsRow({ ...terms, price }) }];
  });
  if (changes.length === 0) return;
  const terms = new Map(changes.map(({ terms }) => [terms.id, terms]));
  await putNewRows(tx, 'usage_log_terms', ['id'], [...terms.values()]);
  const stored = changes.map(({ terms: { id }, ...change }) => ({ ...change, terms: id }));
  await sql`
    update usage_log as line
    set quota = corrected.charged, uncovered = nullif(corrected.uncovered, 0), terms_id = corrected.terms
    from json_to_recordset(${JSON.stringify(stored)}::json)
      as corrected (call text, charged bigint, uncovered bigint, terms bigint)
    where line.request_id = corrected.call and line.type = ${type}
  `.execute(tx);
}
