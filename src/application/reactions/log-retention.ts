import { atIntervals } from '../../concurrency/at-intervals.js';
import { Instant } from '../../domain/kernel/instant.js';
import type { Settings } from '../options/settings.js';
import type { Clock } from '../ports/storage-ports.js';
import type { UsageLogCommands } from '../usage/usage-log-commands.js';

/* Once a day the usage log loses the days that the option says are not to be kept. */

interface RetentionPorts {
  readonly settings: () => Pick<Settings, 'number'>;
  readonly clock: Clock;
  readonly usageLog: Pick<UsageLogCommands, 'retain'>;
}

interface RetentionOptions {
  /** Between two looks. */
  readonly everyMs: number;
  readonly cleared: (facts: { readonly before: Instant; readonly lines: number }) => void;
  readonly failed: (error: unknown) => void;
}

const dayMs = 86_400_000;

/** Days are those of UTC, and kept whole. null: all of them are. */
function keptFrom(days: number, now: Instant): Instant | null {
  const today = Math.floor(now / dayMs);
  return days === 0 || days >= today ? null : Instant((today - days) * dayMs);
}

/** One look. */
export function retention({ settings, clock, usageLog }: RetentionPorts, cleared: RetentionOptions['cleared']) {
  let done: Instant | null = null;
  return async (): Promise<void> => {
    const before = keptFrom(settings().number('general_setting.log_retention_days'), clock.now());
    if (before === null || before === done) return;
    const { lines } = await usageLog.retain(before);
    done = before;
    if (lines > 0) cleared({ before, lines });
  };
}

/** The result ends it. */
export function startLogRetention(
  ports: RetentionPorts,
  { everyMs, cleared, failed }: RetentionOptions,
): () => Promise<void> {
  const look = retention(ports, cleared);
  return atIntervals(everyMs, () => look().catch(failed));
}
