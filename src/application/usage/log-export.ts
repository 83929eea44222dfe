import type { Position } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import { channels } from '../../projections/models/channels.js';
import { usageLog } from '../../projections/models/usage-log/usage-log.js';
import { clearedBefore } from '../../projections/models/usage-log/usage-log-clearing.js';
import type { UsageLogFilter } from '../../projections/models/usage-log/usage-log-filter.js';
import {
  type UsageLogEntry,
  usageLogBefore,
  usageLogCount,
} from '../../projections/models/usage-log/usage-log-queries.js';
import { users } from '../../projections/models/users.js';
import { type ConsistencyPorts, waitForHead } from '../consistency.js';
import { type LogFilter, visibleLog } from './visible-log.js';

/* The lines of the usage log that a filter lets through, to be kept: all of them, or none. */

interface LogExportPorts extends ConsistencyPorts {
  readonly db: ReadModels;
}

/** Lines of one file: what a spreadsheet still opens, and a browser holds while it comes. */
const defaultMaxLines = 100_000;
/** Reading and writing so many takes some milliseconds, in which nobody else has the process. */
const linesPerPage = 100;

/** `since`: from where on lines are shown, unix seconds. Throws `usage-log-cleared` once that has moved into the range. */
async function* linePages(db: ReadModels, filter: UsageLogFilter, since: number, upTo: Position) {
  const first = Math.max(since, filter.from ?? 0);
  let before: Position | undefined;
  for (;;) {
    const lines: readonly UsageLogEntry[] = await usageLogBefore(db, filter, { before, upTo, limit: linesPerPage });
    yield lines;
    const last = lines.at(-1);
    if (last === undefined || lines.length < linesPerPage) break;
    before = last.id;
  }
  // Cleared meanwhile, the file breaks off: it would look whole.
  if ((await clearedBefore(db)) > first) throw new Failure('usage-log-cleared');
}

/** `max`: lines a file may have. */
export function logExportQueries(ports: LogExportPorts, max = defaultMaxLines) {
  const { db } = ports;
  return {
    /**
     * Newest first, as of now: what comes while they are read is not among them. Throws `role-too-low` as the log does,
     * `export-too-large` where there are more than a file may have, `store-unavailable` while the log is being rebuilt,
     * and while the pages are read `usage-log-cleared`, where lines have been cleared that were to come.
     */
    async exportedLog(
      viewer: Actor,
      filter: LogFilter,
      own: boolean,
    ): Promise<AsyncGenerator<readonly UsageLogEntry[], void, undefined>> {
      const visible = visibleLog(viewer, filter, own);
      const upTo = await waitForHead(ports, [usageLog.name, users.name, channels.name]);
      const since = await clearedBefore(db);
      const lines = await usageLogCount(db, visible, { upTo, max: max + 1 });
      if (lines > max) throw new Failure('export-too-large', { allowed: max });
      return linePages(db, visible, since, upTo);
    },
  };
}
