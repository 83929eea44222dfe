import type { UsageLogEntry } from '../../../src/projections/models/usage-log/usage-log-queries.js';
import type { Answer } from '../callers/callers.js';
import { until } from '../until.js';
import type { TestGateway, TestUser } from './test-gateway.js';

/** The lines of the usage log about one answer, as its user sees them; waits for the first. */
export const linesOf = (
  { application }: Pick<TestGateway, 'application'>,
  user: Pick<TestUser, 'actor'>,
  { requestId }: Pick<Answer, 'requestId'>,
): Promise<UsageLogEntry[]> =>
  until(async () => {
    const lines = await application.queries.logBefore(user.actor, { requestId }, { limit: 10 }, true);
    return lines.length > 0 ? lines : null;
  });

/** The one line about an answer. */
export async function lineOf(...asked: Parameters<typeof linesOf>): Promise<UsageLogEntry> {
  const [line, ...others] = await linesOf(...asked);
  if (line === undefined || others.length > 0) throw new Error(`${1 + others.length} lines about one call`);
  return line;
}
