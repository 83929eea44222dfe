import type { Position } from '../../../domain/events/events.js';
import type { UserId } from '../../../domain/kernel/ids.js';
import type { Instant } from '../../../domain/kernel/instant.js';
import type { ReadModels } from '../../database.js';
import type { ActKind, ActSubject } from './acts.js';
import type { ActRow } from './administrators-log.js';

/** null: whatever it is. */
export interface ActFilter {
  readonly by: UserId | null;
  readonly kinds: readonly ActKind[] | null;
  readonly subject: ActSubject | null;
  /** Of a subject of that kind. */
  readonly subjectId: string | null;
  /** Inclusive. */
  readonly from: Instant | null;
  /** Exclusive. */
  readonly to: Instant | null;
}

interface ActRange {
  readonly order: 'oldest' | 'newest';
  /** Only what comes behind the act at this position; null: from the first on. */
  readonly after: Position | null;
  /** null: all there are. */
  readonly upTo: Position | null;
  readonly limit: number;
}

export function acts(db: ReadModels, filter: ActFilter, { order, after, upTo, limit }: ActRange): Promise<ActRow[]> {
  const { by, kinds, subject, subjectId, from, to } = filter;
  let found = db.selectFrom('administrator_act').selectAll();
  if (by !== null) found = found.where('by_user', '=', by);
  if (kinds !== null) found = found.where('kind', 'in', kinds);
  if (subject !== null) found = found.where('subject', '=', subject);
  if (subjectId !== null) found = found.where('subject_id', '=', subjectId);
  if (from !== null) found = found.where('at', '>=', from);
  if (to !== null) found = found.where('at', '<', to);
  if (after !== null) found = found.where('position', order === 'oldest' ? '>' : '<', after);
  if (upTo !== null) found = found.where('position', '<=', upTo);
  return found
    .orderBy('position', order === 'oldest' ? 'asc' : 'desc')
    .limit(limit)
    .execute();
}
