import type { Actor } from '../../domain/user/user.js';
import type { UsageLogFilter } from '../../projections/models/usage-log/usage-log-filter.js';
import { authorise } from '../authorise.js';

/* Whose lines of the usage log a viewer sees. */

/** What may be asked of the log; whose lines are seen is decided by the viewer. */
export type LogFilter = Omit<UsageLogFilter, 'userId'>;

export const ownLog = ({ id }: Actor, filter: LogFilter): UsageLogFilter => ({
  ...filter,
  username: undefined,
  userId: id,
});

/** Admins see everything; others their own lines, without what discloses channels. Throws `role-too-low`. */
export function visibleLog(viewer: Actor, filter: LogFilter, own: boolean): UsageLogFilter {
  if (!own || filter.channelId !== undefined) authorise(viewer, 'admin-reading');
  return own ? ownLog(viewer, filter) : filter;
}
