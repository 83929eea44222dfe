import type { Decider } from '../kernel/decider.js';
import { assertNever, invalidField } from '../kernel/failure.js';
import type { UserId } from '../kernel/ids.js';
import { Instant } from '../kernel/instant.js';

/*
 * How far back the usage log is shown. What it is made from is never touched: clearing trims a view. Stream `usagelog`.
 */

/** Who had it cleared: somebody, or the option that says how long lines are kept. */
export type ClearedBy = UserId | 'retention';

/** Lines of what happened before `before`, a whole second, are shown no more, whenever they were written. */
export type UsageLogEvent = { type: 'LogsCleared'; before: Instant; by: ClearedBy };

type UsageLogCommand = {
  type: 'ClearUsageLog';
  before: Instant;
  now: Instant;
  /** Lines there are to be cleared, as far as is known. */
  lines: number;
  by: ClearedBy;
};

/** What happened earlier is shown no more. */
type UsageLogState = { readonly clearedBefore: Instant };

export const usageLogDecider: Decider<UsageLogState, UsageLogCommand, UsageLogEvent> = {
  initial: { clearedBefore: Instant(0) },
  decide(command, { clearedBefore }) {
    switch (command.type) {
      case 'ClearUsageLog': {
        const { before, now, lines, by } = command;
        // A year that was mistyped must not clear everything.
        if (before > now) throw invalidField('before', 'a time in the past');
        if (before <= clearedBefore || lines === 0) return [];
        return [{ type: 'LogsCleared', before, by }];
      }
      default:
        return assertNever(command.type);
    }
  },
  evolve(_, event) {
    switch (event.type) {
      case 'LogsCleared':
        return { clearedBefore: event.before };
      default:
        return assertNever(event.type);
    }
  },
};
