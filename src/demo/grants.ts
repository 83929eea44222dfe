import type { Application } from '../application/application.js';
import { atIntervals } from '../concurrency/at-intervals.js';
import type { Seeded } from './seed.js';

/* Who would buy quota when little is left cannot in a demo that goes on: nobody takes money there. Root gives it. */

interface GrantsOptions {
  readonly app: Pick<Application, 'queries' | 'users'>;
  readonly seeded: Seeded;
  readonly log: { warn(facts: Record<string, unknown>, message: string): void };
}

const lookEveryMs = 15_000;
const quotaPerDollar = 500_000;
/** In quota. */
const little = 1 * quotaPerDollar;

/** The result ends it. */
export const startGrants = ({ app, seeded: { root, people }, log }: GrantsOptions): (() => Promise<void>) =>
  atIntervals(lookEveryMs, async () => {
    try {
      for (const { id, cast } of people) {
        if (cast.topUp === 0) continue;
        const { quota } = await app.queries.user(root, id);
        if (quota < little) await app.users.adjustQuota(root, id, { delta: cast.topUp * quotaPerDollar });
      }
    } catch (error) {
      log.warn({ error: String(error) }, 'quota of the demo could not be given');
    }
  });
